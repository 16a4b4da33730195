import Foundation
import HesperModel

/// A note that was read from a source, with its tags, dates and attachments.
public struct SourceNote: Sendable, Equatable {
    /// The path of the note in the source, for messages.
    public let path: String
    public let uniqueID: UniqueID
    public let text: String
    /// The names of the tags. If the folded forms of several names are equal, for example because they differ only in case, only
    /// the first name is included.
    public let tags: [String]
    public let creation: Timestamp
    public let modification: Timestamp
    public let isArchived: Bool
    public let isPinned: Bool
    public let attachments: [SourceAttachment]
    /// The parts of the note that cannot be imported.
    public let losses: [Loss]
    /// The clock of the text, as computed by ``ImportedNote``.
    public let clock: Clock

    /// A part of a note that cannot be imported, such as a file, with the reason as a sentence.
    public struct Loss: Sendable, Equatable {
        public let part: String
        public let reason: String
    }

    /// The values of a note as read from the source, before they are checked.
    struct Draft {
        let path: String
        let uniqueID: UniqueID
        var text = ""
        var tags: [String] = []
        var creation: Timestamp?
        var modification: Timestamp?
        var isArchived = false
        var isPinned = false
        var attachments: [SourceAttachment] = []
        var losses: [Loss] = []
    }

    /// Checks the values of a note.
    /// - Parameter now: the current time. It replaces missing dates. The date in the note's clock is never later than this time.
    /// - Throws: ``Rejected`` if the text is not allowed in a note.
    init(_ draft: Draft, now: Timestamp = .current) throws(Rejected) {
        // If a note has files but no text, for example a recording, the names of the files become its text.
        let text = draft.text.isEmpty ? draft.attachments.map(\.filename).joined(separator: "\n") : draft.text
        guard !text.isEmpty else { throw Rejected(reason: "It is empty.") }
        if case .failure(let error) = FieldValue.text(.string(text)) {
            let count = text.utf8.count
            throw Rejected(
                reason: count > Limits.textBytes
                    ? Rejected.tooLarge(Int64(count), limit: Int64(Limits.textBytes)) : "The text \(error.requirement)."
            )
        }
        path = draft.path
        uniqueID = draft.uniqueID
        self.text = text
        let date = draft.modification ?? draft.creation ?? now
        modification = date
        creation = min(draft.creation ?? date, date)
        guard let clock = ImportedNote.clock(of: uniqueID, text, min(date, now)) else {
            throw Rejected(reason: "Its date, \(date), is out of range.")
        }
        self.clock = clock
        var seen: Set<String> = []
        tags = draft.tags.filter { name in
            guard case .success = FieldValue.tagName(.string(name)) else { return false }
            return seen.insert(TagName.fold(name)).inserted
        }
        (isArchived, isPinned) = (draft.isArchived, draft.isPinned)
        (attachments, losses) = (draft.attachments, draft.losses)
    }

    /// The error for a file or a note that cannot be imported. The reason is a sentence.
    public struct Rejected: Error, Equatable {
        public let reason: String

        static func tooLarge(_ count: Int64, limit: Int64) -> String {
            "It has \(count) bytes. The maximum is \(limit)."
        }
    }
}

/// A file that becomes an attachment of one note.
public struct SourceAttachment: Sendable, Equatable {
    public let uniqueID: UniqueID
    public let filename: String
    public let mimeType: String
    /// The path of the file on this machine.
    public let location: String
    public let byteCount: Int64
    public let sha256: String

    /// Whether apps show the file as a picture.
    public var isPicture: Bool { mimeType.hasPrefix("image/") }
}

/// An entry of a source, as a ``SourceReader`` passes it on.
public enum SourceEntry: Sendable, Equatable {
    case note(SourceNote)
    /// A note or a file that cannot be imported, with the reason.
    case skipped(path: String, reason: String)
    /// A note that is in the trash of the app. It is not imported.
    case trashed(path: String)
    /// The number of files that are neither notes nor parts of notes.
    case ignored(Int)
}

/// Reads the notes of one kind of source.
public protocol SourceReader: Sendable {
    /// The number of notes, for the display of progress.
    var count: Int { get }
    /// Passes all entries to `body`. An entry is read after the previous entry has been processed, so that memory use does not
    /// depend on the size of the source.
    func read(_ body: (SourceEntry) async throws -> Void) async throws
}

extension Timestamp {
    /// The current time.
    static var current: Timestamp { Timestamp(clamping: Int64(Date().timeIntervalSince1970 * 1_000)) }
}
