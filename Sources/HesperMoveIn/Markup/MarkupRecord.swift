import Foundation
import HesperModel

/// A result of the parser of HTML and ENEX. The parser runs in a separate process, and writes each result as a line of JSON.
enum MarkupRecord: Codable, Sendable {
    case note(Note)
    /// A note or a file that cannot be read. `source` is the index of the file in ``MarkupWork/files``.
    case skipped(source: Int, title: String, reason: String)
    /// The end of a file: all of its notes have been read.
    case end(source: Int)

    struct Note: Codable, Sendable {
        /// The index of the file in ``MarkupWork/files``.
        let source: Int
        var title = ""
        /// The text in Markdown. A link to a file of the note has the form `evernote-resource:HASH`, where HASH is the MD5 hash of
        /// the file.
        var text = ""
        /// The creation and modification dates, as written in the document; empty if it has none.
        var created = ""
        var updated = ""
        var tags: [String] = []
        var files: [File] = []
        var losses: [Loss] = []
    }

    struct Loss: Codable, Sendable {
        let part: String
        let reason: String
    }

    /// A file that was contained in the document.
    struct File: Codable, Sendable {
        /// The MD5 hash of the bytes, by which a document refers to the file.
        let hash: String
        let location: String
        let byteCount: Int64
        var name = ""
        var mimeType = ""
    }
}

/// The input of the parser of HTML and ENEX: the files to read, the folder for extracted files, and the maximum size of an
/// extracted file.
struct MarkupWork: Codable, Sendable {
    /// The files to parse.
    let files: [File]
    /// The folder for the files that are extracted from documents.
    let staging: String
    /// The maximum size in bytes of a file that a document contains.
    let attachmentBytes: Int64

    struct File: Codable, Sendable {
        let path: String
        let isEvernote: Bool
    }

    /// Reads the files, beginning with the file at index `start`, and writes records as lines of JSON.
    func run(from start: Int, to output: FileHandle) throws {
        let encoder = JSONEncoder()
        func write(_ record: MarkupRecord) throws {
            try output.write(contentsOf: encoder.encode(record) + [UInt8(ascii: "\n")])
        }
        for (index, file) in files.enumerated().dropFirst(start) {
            if file.isEvernote {
                try EvernoteDocument(index, staging, attachmentBytes).read(file.path, write)
            } else {
                try HTMLDocument(index, staging, attachmentBytes).read(file.path, write)
            }
            try write(.end(source: index))
        }
    }
}
