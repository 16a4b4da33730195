import Foundation
import HesperClient

typealias Note = HesperClient.Note
typealias NoteID = ObjectID<Note>

/// The state of a note's file when it was last compared with the note. The text that the file had at that time is stored
/// separately. It is the base of the next edit.
struct MirrorEntry: Codable, Equatable, Sendable {
    /// The path of the file, relative to the folder.
    var path: String
    /// The value of the note's `attributes.path` that was last applied. It differs from `path` if the file could not get that path.
    var wish: String?
    /// The hash of the file's bytes.
    var fileHash: String
    /// The hash of the file's text.
    var textHash: String
    var hasCRLF = false
    var stamp: FileStamp
    /// The time at which the bytes were hashed, in nanoseconds since 1970.
    var hashed: Int64
    /// The version that the note had when the file was last compared with it.
    var version: String
    /// Whether the mirror named the file `Untitled`, because the note had no words.
    var isUntitled = false
    /// The absence of the file; nil if the last scan found the file.
    var absence: Absence?
    /// Hashes of former contents of the file, latest last.
    var formerHashes: [String] = []

    /// The maximum number of `formerHashes`. With these hashes, the mirror detects that many files have returned to older versions,
    /// for example after `git checkout`.
    private static let formerLimit = 16

    /// Records new contents of the file.
    mutating func setContent(file: String, text: String, hasCRLF: Bool, _ stamp: FileStamp, at hashed: Int64) {
        if file != fileHash {
            formerHashes.removeAll { $0 == file }
            formerHashes.append(fileHash)
            formerHashes.removeFirst(max(0, formerHashes.count - MirrorEntry.formerLimit))
        }
        (fileHash, textHash, self.hasCRLF) = (file, text, hasCRLF)
        (self.stamp, self.hashed) = (stamp, hashed)
        absence = nil
    }
}

/// A note, with the properties that a round of the mirror needs.
struct MirrorNote: Equatable, Sendable {
    /// A string that differs after each change of the note.
    var version: String
    /// The properties of the note; nil if the note has a file and was not changed since it was compared with the file.
    var detail: Detail?

    struct Detail: Equatable, Sendable {
        var textHash: String
        var isEmpty: Bool
        /// The note's `attributes.path`, if it can be the path of a file; otherwise nil.
        var wish: String?
        /// The name of a new file for the note, without extension.
        var stem: String
        var hasCRLF: Bool
        var creation: Date
    }
}
