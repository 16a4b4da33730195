import Foundation
import HesperClient

typealias AttachmentID = ObjectID<HesperClient.Attachment>

/// The state of an attachment's file when it was last compared with the attachment.
struct AttachmentEntry: Codable, Equatable, Sendable {
    /// The path of the file, relative to the folder.
    var path: String
    /// The note that has the attachment.
    var note: NoteID
    var sha256: String
    var stamp: FileStamp
    /// The time at which the bytes were hashed, in nanoseconds since 1970.
    var hashed: Int64
    /// Whether the text of the note has linked to the file at any time since the note got the attachment.
    var wasLinked: Bool
    /// Whether the note was deleted because the note's file was deleted. The file of the attachment then stays in the folder.
    var isReleased = false
    /// The absence of the file; nil if the last scan found the file.
    var absence: Absence?
}

/// An attachment of a note, with the properties that a round of the mirror needs.
struct MirrorAttachment: Equatable, Sendable {
    /// The note that has the attachment.
    var note: NoteID
    /// The `filename` of the attachment, if it can be the path of a file; otherwise nil.
    var path: String?
    /// The name of a new file for the attachment, without extension. It is used if the attachment has no usable path.
    var stem: String
    /// The extension of a new file for the attachment, with its dot. It is used if the attachment has no usable path.
    var ending: String
    var sha256: String?
    var byteCount: Int64 = 0
    /// Whether the bytes are on this device. It is determined only for attachments without a file, and is false for all others.
    var hasBytes = false
    /// Whether the text of the note contains the ID of the attachment. It is determined only if several attachments have the same
    /// path, and is otherwise false.
    var isMarked = false
}

/// A file that can be an attachment, as a scan has found it.
struct AttachableFile: Equatable, Sendable {
    enum Content: Equatable, Sendable {
        /// The SHA-256 hash of the bytes, in hexadecimal.
        case bytes(String)
        /// The file was changed a moment ago and may be incomplete.
        case settling
        case unusable(SkippedFile.Reason)
    }

    let path: String
    let stamp: FileStamp
    let content: Content

    /// The hash of the file's bytes; nil if the file is settling or unusable.
    var sha256: String? {
        if case .bytes(let hash) = content { hash } else { nil }
    }
}

/// A note whose text links to a file.
struct Linker: Equatable, Sendable {
    /// The path of the note's file.
    let path: String
    /// The ID of the note; nil if the file is not a note yet.
    let note: NoteID?
}
