import Foundation

/// Texts as an import finds them, in a folder or in an archive.
protocol TextSource {
    /// Part of what every note's ID is derived from.
    var name: String { get }
    /// In the order in which they are read.
    var files: [SourceFile] { get }
    /// Files of other kinds, empty and hidden ones, and links: none of the import's business.
    var passedOver: Int { get }
    /// Folders, and files, that could not be looked at, with the reason.
    var unreadable: [(path: String, reason: String)] { get }

    /// The bytes of a file; asked for each once, in order, and only for those that are not too large.
    /// - Throws: ``SourceFile/Unusable``, or whatever ends the import.
    mutating func bytes(of file: SourceFile) throws -> Data
}

/// Which files are texts.
enum TextFile {
    /// What texts are called, in any case.
    static let endings: Set<String> = ["md", "markdown", "txt", "text"]

    static func isText(_ name: String) -> Bool {
        // What stands after the last dot.
        name.lastIndex(of: ".").map { endings.contains(name[name.index(after: $0)...].lowercased()) } ?? false
    }
}
