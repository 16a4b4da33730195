import Foundation
import HesperModel

/// What the parser of HTML and ENEX found, as a line of JSON. The parser runs in a process of its own.
enum MarkupRecord: Codable, Sendable {
    case note(Note)
    /// A note or a file that cannot be read. `source` is the number of the file in the list of files.
    case skipped(source: Int, title: String, reason: String)
    /// A file has been read to its end.
    case end(source: Int)

    struct Note: Codable, Sendable {
        /// The number of the file in the list of files.
        let source: Int
        var title = ""
        /// The text in Markdown. Files of the note are links to `evernote-resource:` and the MD5 hash.
        var text = ""
        /// The dates as the document states them.
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

    /// A file that was part of the document.
    struct File: Codable, Sendable {
        /// The MD5 hash of the bytes, by which a document refers to the file.
        let hash: String
        let location: String
        let byteCount: Int64
        var name = ""
        var mimeType = ""
    }
}

/// The files that a parser reads, and what it may write.
struct MarkupWork: Codable, Sendable {
    /// The paths of the files, with their extensions in the source.
    let files: [File]
    /// The folder for the files that are parts of documents.
    let staging: String
    /// The maximum size of such a file in bytes.
    let attachmentBytes: Int64

    struct File: Codable, Sendable {
        let path: String
        let isEvernote: Bool
    }

    /// Reads the files from a position on, and writes records as lines of JSON.
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
