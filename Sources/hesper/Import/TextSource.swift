import Foundation

/// A source of text files for an import: a folder or an archive.
protocol TextSource {
    /// The name of the source. The IDs of notes are derived from it.
    var name: String { get }
    /// The text files of the source, in the order in which they are read.
    var files: [SourceFile] { get }
    /// The number of files that are ignored: files of other types, empty or hidden files, and links.
    var ignored: Int { get }
    /// The folders and files that cannot be read, with the reasons.
    var unreadable: [(path: String, reason: String)] { get }

    /// Returns the contents of a file. The caller calls it at most once per file, in the order of ``files``, and only for files
    /// that are not too large.
    /// - Throws: ``SourceFile/Rejected``, or an error that ends the import.
    mutating func bytes(of file: SourceFile) throws -> Data
}

/// Recognizes text files by their extension.
enum TextFile {
    /// The extensions of text files, in lower case.
    static let endings: Set<String> = ["md", "markdown", "txt", "text"]

    static func isText(_ name: String) -> Bool {
        // The extension is the part after the last dot.
        name.lastIndex(of: ".").map { endings.contains(name[name.index(after: $0)...].lowercased()) } ?? false
    }
}
