import Foundation

/// A source of text files for an import: a folder or an archive.
protocol TextSource {
    /// The name of the source. IDs of notes are derived from it.
    var name: String { get }
    /// In the order in which they are read.
    var files: [SourceFile] { get }
    /// The number of ignored files: other types, empty or hidden files, and links.
    var ignored: Int { get }
    /// Folders and files that cannot be read, with the reason.
    var unreadable: [(path: String, reason: String)] { get }

    /// Returns the contents of a file. Called at most once per file, in order, and only for files that are not too large.
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
