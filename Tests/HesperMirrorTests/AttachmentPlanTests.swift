import Foundation
import HesperModel
import Testing

@testable import HesperMirror

/// What a round does with files and attachments, as a table of situations.
struct AttachmentPlanTests {
    /// Attachments and notes, in the order of their IDs.
    private static let (id, other) = (attachment(1), attachment(2))
    private static let (a, b, c) = (note(1), note(2), note(3))
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private static func attachment(_ number: UInt64) -> AttachmentID { AttachmentID(UniqueID(high: 7, low: number)) }
    private static func note(_ number: UInt64) -> NoteID { NoteID(UniqueID(high: 8, low: number)) }

    private static func stamp(_ bytes: String, _ inode: UInt64) -> FileStamp {
        FileStamp(size: UInt64(bytes.utf8.count), inode: inode, modified: 0, changed: 0, born: 7)
    }

    private static func file(
        _ path: String, _ bytes: String, inode: UInt64 = 1, _ content: AttachableFile.Content? = nil
    ) -> AttachableFile {
        AttachableFile(path: path, stamp: stamp(bytes, inode), content: content ?? .bytes(bytes))
    }

    private static func entry(
        _ path: String, _ bytes: String, of note: NoteID = a, inode: UInt64 = 1, isLinked: Bool = true,
        isReleased: Bool = false, missing: Double? = nil
    ) -> AttachmentEntry {
        var entry = AttachmentEntry(
            path: path, note: note, sha256: bytes, stamp: stamp(bytes, inode), hashed: 0, wasLinked: isLinked,
            isReleased: isReleased)
        if let missing {
            entry.absence = Absence(since: now.timeIntervalSince1970 - missing, scans: 1)
        }
        return entry
    }

    private static func attachment(
        _ path: String?, _ bytes: String, of note: NoteID = a, isHere: Bool = true, isMarked: Bool = false
    ) -> MirrorAttachment {
        MirrorAttachment(
            note: note, path: path, stem: "name", ending: ".png", sha256: bytes, hasBytes: isHere, isMarked: isMarked)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var files: [AttachableFile] = []
        /// The notes that link to `p.png`.
        var linkers: [NoteID] = []
        var entries: [AttachmentID: AttachmentEntry] = [:]
        var attachments: [AttachmentID: MirrorAttachment] = [:]
        var change: @Sendable (inout AttachmentPlan.Situation) -> Void = { _ in }
        var actions: [AttachmentPlan.Action] = []
        var skipped: [SkippedFile.Reason] = []
        var questions = 0
        var isIncomplete = false
    }

    static let rows = [
        Row(testDescription: "a file without a link", files: [file("p.png", "P")]),
        Row(
            testDescription: "a linked file", files: [file("p.png", "P")], linkers: [a],
            actions: [.create(path: "p.png", note: a)]),
        Row(
            testDescription: "a file that several notes link: the smallest path", files: [file("p.png", "P")],
            linkers: [c, b], actions: [.create(path: "p.png", note: c)]),
        Row(
            testDescription: "a linked file that is being written", files: [file("p.png", "P", .settling)], linkers: [a]
        ),
        Row(testDescription: "a linked empty file", files: [file("p.png", "")], linkers: [a]),
        Row(
            testDescription: "a linked file that cannot be read", files: [file("p.png", "P", .unusable(.unreadable))],
            linkers: [a], skipped: [.unreadable]),
        Row(
            testDescription: "a linked file over the limit", files: [file("p.png", "PPP")], linkers: [a],
            change: { $0.largest = 2 }, skipped: [.overLimit]),
        Row(
            testDescription: "a linked file, pull only", files: [file("p.png", "P")], linkers: [a],
            change: { $0.isPullOnly = true }, skipped: [.pullOnly]),
        Row(
            testDescription: "nothing changed", files: [file("p.png", "P")], linkers: [a],
            entries: [id: entry("p.png", "P")],
            attachments: [id: attachment("p.png", "P")]),
        Row(
            testDescription: "another note links too", files: [file("p.png", "P")], linkers: [b, a],
            entries: [id: entry("p.png", "P")], attachments: [id: attachment("p.png", "P")]),
        Row(
            testDescription: "the note no longer links, another does", files: [file("p.png", "P")], linkers: [c, b],
            entries: [id: entry("p.png", "P")], attachments: [id: attachment("p.png", "P")],
            actions: [.handOver(id, path: "p.png", to: c)]),
        Row(
            testDescription: "the note no longer links, and no other does", files: [file("p.png", "P")],
            entries: [id: entry("p.png", "P")], attachments: [id: attachment("p.png", "P")]),
        Row(
            testDescription: "the note never linked: it was attached elsewhere", files: [file("p.png", "P")],
            linkers: [b],
            entries: [id: entry("p.png", "P", isLinked: false)], attachments: [id: attachment("p.png", "P")]),
        Row(
            testDescription: "the links of the note are not known", files: [file("p.png", "P")], linkers: [b],
            entries: [id: entry("p.png", "P")], attachments: [id: attachment("p.png", "P")],
            change: { $0.linking = [b] }),
        Row(
            testDescription: "the note links now", files: [file("p.png", "P")], linkers: [a],
            entries: [id: entry("p.png", "P", isLinked: false)], attachments: [id: attachment("p.png", "P")],
            actions: [.note(id, a, isLinked: true)]),
        Row(
            testDescription: "another machine has handed it over", files: [file("p.png", "P")], linkers: [b],
            entries: [id: entry("p.png", "P")], attachments: [id: attachment("p.png", "P", of: b)],
            actions: [.note(id, b, isLinked: true)]),
        Row(
            testDescription: "the bytes were changed", files: [file("p.png", "Q")], linkers: [a],
            entries: [id: entry("p.png", "P")], attachments: [id: attachment("p.png", "P")],
            actions: [.replace(id, path: "p.png")]),
        Row(
            testDescription: "the bytes were changed, and nobody links", files: [file("p.png", "Q")],
            entries: [id: entry("p.png", "P")], attachments: [id: attachment("p.png", "P")],
            actions: [.replace(id, path: "p.png")]),
        Row(
            testDescription: "the file became empty", files: [file("p.png", "")], entries: [id: entry("p.png", "P")],
            attachments: [id: attachment("p.png", "P")], skipped: [.fileBecameEmpty]),
        Row(
            testDescription: "the file was moved", files: [file("q.png", "P")], entries: [id: entry("p.png", "P")],
            attachments: [id: attachment("p.png", "P")], actions: [.follow(id, from: "p.png", to: "q.png")]),
        Row(
            testDescription: "the file was moved by a copy", files: [file("q.png", "P", inode: 9)],
            entries: [id: entry("p.png", "P")], attachments: [id: attachment("p.png", "P")],
            actions: [.follow(id, from: "p.png", to: "q.png")]),
        Row(
            testDescription: "the file was moved and changed in place", files: [file("q.png", "Q")],
            entries: [id: entry("p.png", "P")], attachments: [id: attachment("p.png", "P")],
            actions: [.replace(id, path: "q.png")]),
        Row(
            testDescription: "the file is missing", entries: [id: entry("p.png", "P")],
            attachments: [id: attachment("p.png", "P")], actions: [.miss(id)]),
        Row(
            testDescription: "the file is missing long enough", entries: [id: entry("p.png", "P", missing: 301)],
            attachments: [id: attachment("p.png", "P")], actions: [.remove(id)]),
        Row(
            testDescription: "the file is missing, but a question is open",
            entries: [id: entry("p.png", "P", missing: 301)], attachments: [id: attachment("p.png", "P")],
            change: { $0.keepsAll = true }),
        Row(
            testDescription: "the file is missing, pull only", entries: [id: entry("p.png", "P", missing: 301)],
            attachments: [id: attachment("p.png", "P")], change: { $0.isPullOnly = true }),
        Row(
            testDescription: "the file is not seen", entries: [id: entry("p.png", "P", missing: 301)],
            attachments: [id: attachment("p.png", "P")], change: { $0.unseen = [id: .unmounted] }, skipped: [.unmounted]
        ),
        Row(
            testDescription: "the file has returned", files: [file("p.png", "P")], linkers: [a],
            entries: [id: entry("p.png", "P", missing: 100)], attachments: [id: attachment("p.png", "P")],
            actions: [.regain(id)]),
        Row(
            testDescription: "removed elsewhere", files: [file("p.png", "P")], linkers: [a],
            entries: [id: entry("p.png", "P")], actions: [.trash(id, path: "p.png")]),
        Row(
            testDescription: "removed elsewhere, pull only", files: [file("p.png", "P")], linkers: [a],
            entries: [id: entry("p.png", "P")], change: { $0.isPullOnly = true }, actions: [.trash(id, path: "p.png")]),
        Row(
            testDescription: "removed elsewhere, while files become notes", files: [file("p.png", "P")],
            entries: [id: entry("p.png", "P")], change: { $0.isUnfinished = true }),
        Row(
            testDescription: "removed elsewhere, and changed here", files: [file("p.png", "Q")], linkers: [a],
            entries: [id: entry("p.png", "P")], actions: [.forget(id)]),
        Row(
            testDescription: "removed elsewhere, and missing here", entries: [id: entry("p.png", "P")],
            actions: [.forget(id)]),
        Row(
            testDescription: "removed elsewhere, and not seen here", entries: [id: entry("p.png", "P")],
            change: { $0.unseen = [id: .unmounted] }),
        Row(
            testDescription: "the note was deleted, and another links", files: [file("p.png", "P")], linkers: [b],
            entries: [id: entry("p.png", "P")], change: { $0.existing = [id] },
            actions: [.handOver(id, path: "p.png", to: b)]),
        Row(
            testDescription: "the attachment was deleted, and another note links", files: [file("p.png", "P")],
            linkers: [b], entries: [id: entry("p.png", "P")], actions: [.forget(id)]),
        Row(
            testDescription: "the note was deleted because its file was", files: [file("p.png", "P")],
            entries: [id: entry("p.png", "P", isReleased: true)], actions: [.forget(id)]),
        Row(
            testDescription: "it was never sent: the file stays", files: [file("p.png", "P")],
            entries: [id: entry("p.png", "P")], change: { $0.unsent = [id] }, actions: [.forget(id)]),
        Row(
            testDescription: "the server refused it", files: [file("p.png", "P")], linkers: [a],
            entries: [id: entry("p.png", "P")], change: { ($0.unsent, $0.refused) = ([id], [id]) }, skipped: [.refused]),
        Row(
            testDescription: "replaced elsewhere, and the new bytes are here", files: [file("p.png", "P")],
            entries: [id: entry("p.png", "P")], attachments: [other: attachment("p.png", "Q")],
            actions: [.trash(id, path: "p.png"), .make(other, path: "p.png")]),
        Row(
            testDescription: "replaced elsewhere, and the new bytes are not here", files: [file("p.png", "P")],
            entries: [id: entry("p.png", "P")], attachments: [other: attachment("p.png", "Q", isHere: false)],
            actions: [.fetch(other)]),
        Row(
            testDescription: "replaced elsewhere by equal bytes", files: [file("p.png", "P")],
            entries: [id: entry("p.png", "P")], attachments: [other: attachment("p.png", "P", isHere: false)],
            actions: [.renew(id, as: other, from: "p.png", to: "p.png")]),
        Row(
            testDescription: "moved elsewhere", files: [file("p.png", "P")], entries: [id: entry("p.png", "P")],
            attachments: [other: attachment("q/p.png", "P", isHere: false)],
            actions: [.renew(id, as: other, from: "p.png", to: "q/p.png")]),
        Row(
            testDescription: "moved elsewhere to a path that is taken",
            files: [file("p.png", "P"), file("q.png", "Q", inode: 2)], entries: [id: entry("p.png", "P")],
            attachments: [other: attachment("q.png", "P")],
            actions: [.trash(id, path: "p.png"), .make(other, path: "q 2.png")]),
        Row(
            testDescription: "an attachment", attachments: [id: attachment("p.png", "P")],
            actions: [.make(id, path: "p.png")]),
        Row(
            testDescription: "an attachment without a usable path", attachments: [id: attachment(nil, "P")],
            actions: [.make(id, path: "name.png")]),
        Row(
            testDescription: "an attachment in a folder that is a link", attachments: [id: attachment("l/p.png", "P")],
            change: { $0.closed = ["l/"] }, actions: [.make(id, path: "name.png")]),
        Row(
            testDescription: "an attachment whose bytes are not here",
            attachments: [id: attachment("p.png", "P", isHere: false)], actions: [.fetch(id)]),
        Row(
            testDescription: "an attachment whose path is taken", files: [file("p.png", "Q")],
            attachments: [id: attachment("p.png", "P")], actions: [.make(id, path: "p 2.png")]),
        Row(
            testDescription: "an attachment whose path is taken, except for its case", files: [file("P.png", "Q")],
            attachments: [id: attachment("p.png", "P")], actions: [.make(id, path: "p.png")]),
        Row(
            testDescription: "the same, where case does not matter", files: [file("P.png", "Q")],
            attachments: [id: attachment("p.png", "P")], change: { $0.foldsNames = true },
            actions: [.make(id, path: "p 2.png")]),
        Row(
            testDescription: "two attachments of one path",
            attachments: [other: attachment("p.png", "Q"), id: attachment("p.png", "P")],
            actions: [.make(id, path: "p.png"), .make(other, path: "p 2.png")]),
        Row(
            testDescription: "an attachment whose path has a file with its bytes", files: [file("p.png", "P")],
            attachments: [id: attachment("p.png", "P", isHere: false)], actions: [.adopt(id, path: "p.png")]),
        Row(
            testDescription: "an attachment whose path has a file that is being written",
            files: [file("p.png", "P", .settling)], attachments: [id: attachment("p.png", "P")]),
        Row(
            testDescription: "an attachment whose note links to a file with its bytes", files: [file("p.png", "P")],
            linkers: [a], attachments: [id: attachment("photo.png", "P")], actions: [.adopt(id, path: "p.png")]),
        Row(
            testDescription: "an attachment, and another note links to a file with its bytes",
            files: [file("p.png", "P")], linkers: [b], attachments: [id: attachment("photo.png", "P")],
            actions: [.make(id, path: "photo.png"), .create(path: "p.png", note: b)]),
        Row(
            testDescription: "two attachments of one file: the smaller ID stays", files: [file("p.png", "P")],
            linkers: [a, b], entries: [id: entry("p.png", "P")],
            attachments: [id: attachment("p.png", "P"), other: attachment("p.png", "P", of: b)], actions: [.drop(other)]
        ),
        Row(
            testDescription: "the same on the other device", files: [file("p.png", "P")], linkers: [a, b],
            entries: [other: entry("p.png", "P", of: b)],
            attachments: [id: attachment("p.png", "P"), other: attachment("p.png", "P", of: b)],
            actions: [.yield(other, to: id)]),
        Row(
            testDescription: "two attachments of one file, of which a text names the greater one",
            files: [file("p.png", "P")], linkers: [a, b], entries: [id: entry("p.png", "P")],
            attachments: [id: attachment("p.png", "P"), other: attachment("p.png", "P", of: b, isMarked: true)],
            actions: [.yield(id, to: other)]),
        Row(
            testDescription: "two attachments of one path, of which a note does not link to the file",
            files: [file("p.png", "P")], linkers: [a], entries: [id: entry("p.png", "P")],
            attachments: [id: attachment("p.png", "P"), other: attachment("p.png", "P", of: b)],
            actions: [.make(other, path: "p 2.png")]),
        Row(
            testDescription: "two attachments of one path, of which a note has just arrived",
            files: [file("p.png", "P")], linkers: [a], entries: [id: entry("p.png", "P")],
            attachments: [id: attachment("p.png", "P"), other: attachment("p.png", "P", of: b)],
            change: { $0.arriving = [b] }, isIncomplete: true),
    ]

    @Test(arguments: rows) func aRoundDoesWhatTheSituationNeeds(_ row: Row) {
        var situation = AttachmentPlan.Situation()
        situation.files = Dictionary(uniqueKeysWithValues: row.files.map { ($0.path, $0) })
        situation.paths = Set(row.files.map(\.path)).union(row.entries.values.map(\.path))
        if !row.linkers.isEmpty {
            situation.linkers["p.png"] = row.linkers.enumerated().map {
                Linker(path: "\($0.offset).md", note: $0.element)
            }
        }
        (situation.entries, situation.attachments) = (row.entries, row.attachments)
        situation.existing = Set(row.attachments.keys)
        situation.linking = [AttachmentPlanTests.a, AttachmentPlanTests.b, AttachmentPlanTests.c]
        situation.now = AttachmentPlanTests.now
        row.change(&situation)
        let plan = AttachmentPlan(situation)
        #expect(plan.actions == row.actions)
        #expect(plan.skipped.map(\.reason) == row.skipped)
        #expect(plan.questions.count == row.questions)
        #expect(plan.isIncomplete == row.isIncomplete)
    }
}
