import Foundation
import HesperClient

/// The contents of a file of the folder at one moment.
struct FileContent: Sendable {
    let text: String
    let hasCRLF: Bool
    let hash: String
    let stamp: FileStamp
    let hashed: Int64

    init(_ text: FileText, hash: String, stamp: FileStamp, hashed: Int64) {
        (self.text, hasCRLF) = (text.text, text.hasCRLF)
        (self.hash, self.stamp, self.hashed) = (hash, stamp, hashed)
    }

    init(_ note: CurrentNote, hash: String, stamp: FileStamp, hashed: Int64) {
        (text, hasCRLF) = (note.text, note.hasCRLF)
        (self.hash, self.stamp, self.hashed) = (hash, stamp, hashed)
    }

    /// The modification date of the file.
    var date: Date { Date(timeIntervalSince1970: Double(stamp.modified) / 1e9) }

    func entry(path: String, version: String) -> MirrorEntry {
        MirrorEntry(
            path: path, wish: path, fileHash: hash, textHash: FileText.hash(of: text), hasCRLF: hasCRLF, stamp: stamp,
            hashed: hashed, version: version)
    }
}

/// The properties of a note that are needed to write its file.
struct CurrentNote: Sendable {
    let id: NoteID
    let version: String
    let text: String
    let hasCRLF: Bool
    let path: String?
}

/// A file that is being created from a note.
struct NewFile: Codable, Sendable {
    let id: NoteID
    let path: String
    let text: String
    let hasCRLF: Bool
    let isUntitled: Bool

    var bytes: Data { FileText.bytes(of: text, hasCRLF: hasCRLF) }

    /// Whether `text` may be an edited version of this file's text, that is, whether it contains at least half of the words of this
    /// file's text.
    func isOrigin(of text: String) -> Bool {
        let words = Set(self.text.split(whereSeparator: \.isWhitespace))
        return words.intersection(text.split(whereSeparator: \.isWhitespace)).count * 2 >= words.count
    }
}
