import Foundation
import HesperClient

/// What the library reports, in the names of the protocol where it has them.
struct NoteReport: Encodable {
    let uniqueID: Note.ID
    /// In milliseconds since 1970, because dates in JSON are not exact.
    let creationDate: Int64
    let sortDate: Int64
    let text: String
    let archived: Bool
    let pinned: Bool
    let tags: [Tag.ID]
    let attachments: [Attachment.ID]

    init(_ note: Note) {
        uniqueID = note.id
        creationDate = NoteReport.milliseconds(note.creationDate)
        sortDate = NoteReport.milliseconds(note.sortDate)
        text = note.text.string
        archived = note.isArchived
        pinned = note.isPinned
        tags = Array(note.tags)
        attachments = Array(note.attachments)
    }

    private static func milliseconds(_ date: Date) -> Int64 { Int64((date.timeIntervalSince1970 * 1_000).rounded()) }
}

struct StatusReport: Encodable {
    let phase: String
    let toSend: Int
    let toFetch: Int
    let isIdentical: Bool
    let isLive: Bool
    let problem: String?

    init(_ status: SyncStatus) {
        phase = "\(status.phase)"
        toSend = status.toSend.objects
        toFetch = status.toFetch.objects
        isIdentical = status.isIdentical
        isLive = status.isLive
        problem = status.problem.map(StatusReport.name)
    }
}

extension StatusReport {
    private static func name(_ problem: SyncProblem) -> String {
        switch problem {
        case .signInAgain(let reason): "signInAgain(\(reason))"
        default: "\(problem)"
        }
    }
}

struct NoticeReport: Encodable {
    let kind: String
    let objectType: String
    let uniqueID: String
    let continuation: String?
    let texts: [String]

    init(_ notice: SyncNotice) {
        kind = "\(notice.kind)"
        objectType = notice.objectType
        uniqueID = notice.objectID.uuidString.lowercased()
        continuation = notice.continuation?.uuidString.lowercased()
        texts = notice.texts
    }
}

struct ShelfReport: Encodable {
    let uniqueID: String
    let attribute: String?
    let value: String?
    let slug: String

    init(_ change: RejectedChange) {
        uniqueID = change.objectID.uuidString.lowercased()
        attribute = change.attribute
        value = change.value
        slug = change.code
    }
}
