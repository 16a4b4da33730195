import Foundation
import HesperClient
import Testing

@testable import HesperMirror

/// What a round does in each situation.
struct MirrorPlanTests {
    private static let id = NoteID(UUID(uuidString: "11111111-1111-4111-8111-111111111111") ?? UUID())
    private static let other = NoteID(UUID(uuidString: "22222222-2222-4222-8222-222222222222") ?? UUID())
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private static func file(
        _ path: String, _ text: String, inode: UInt64 = 1, content: FolderFile.Content? = nil
    ) -> FolderFile {
        FolderFile(
            path: path, stamp: FileStamp(size: UInt64(text.utf8.count), inode: inode, modified: 0, changed: 0, born: 7),
            content: content ?? .text(file: text, text: text))
    }

    private static func entry(
        _ path: String, _ text: String, inode: UInt64 = 1, version: String = "1", missing: Double? = nil
    ) -> MirrorEntry {
        var entry = MirrorEntry(
            path: path, wish: path, fileHash: text, textHash: text, stamp: file(path, text, inode: inode).stamp,
            hashed: 0, version: version)
        if let missing {
            entry.absence = Absence(since: now.timeIntervalSince1970 - missing, scans: 1)
        }
        return entry
    }

    private static func note(_ text: String, _ version: String = "1", wish: String? = nil, stem: String = "Stem")
        -> MirrorNote
    {
        MirrorNote(
            version: version,
            detail: MirrorNote.Detail(
                textHash: text, isEmpty: text.isEmpty, wish: wish, stem: stem, hasCRLF: false, creation: now))
    }

    struct Row: CustomTestStringConvertible {
        var testDescription: String
        var files: [FolderFile] = []
        var entries: [NoteID: MirrorEntry] = [:]
        var notes: [NoteID: MirrorNote] = [:]
        var continuations: [NoteID: NoteID] = [:]
        var isReceiving = false
        var isPullOnly = false
        var foldsNames = false
        var actions: [MirrorPlan.Action] = []
        var skipped: [SkippedFile.Reason] = []
        var questions = 0
    }

    static let rows = [
        Row(
            testDescription: "nothing changed", files: [file("a.md", "A")], entries: [id: entry("a.md", "A")],
            notes: [id: MirrorNote(version: "1")]),
        Row(
            testDescription: "the file was edited", files: [file("a.md", "B")], entries: [id: entry("a.md", "A")],
            notes: [id: note("A")], actions: [.edit(id, path: "a.md")]),
        Row(
            testDescription: "the note was edited", files: [file("a.md", "A")], entries: [id: entry("a.md", "A")],
            notes: [id: note("B", "2", wish: "a.md")], actions: [.write(id, path: "a.md")]),
        Row(
            testDescription: "both were edited", files: [file("a.md", "C")], entries: [id: entry("a.md", "A")],
            notes: [id: note("B", "2")], actions: [.edit(id, path: "a.md")]),
        Row(
            testDescription: "the note was pinned", files: [file("a.md", "A")], entries: [id: entry("a.md", "A")],
            notes: [id: note("A", "2", wish: "a.md")], actions: [.note(id)]),
        Row(
            testDescription: "the file is being written",
            files: [file("a.md", "B", content: .settling)], entries: [id: entry("a.md", "A")],
            notes: [id: note("C", "2")]),
        Row(
            testDescription: "the file became empty", files: [file("a.md", "", content: .text(file: "", text: ""))],
            entries: [id: entry("a.md", "A")], notes: [id: note("A")], skipped: [.becameEmpty]),
        Row(
            testDescription: "the file is no text", files: [file("a.md", "?", content: .unusable(.binary))],
            entries: [id: entry("a.md", "A")], notes: [id: note("B", "2")], skipped: [.binary]),
        Row(
            testDescription: "the file was moved", files: [file("b.md", "A")], entries: [id: entry("a.md", "A")],
            notes: [id: note("A")], actions: [.follow(id, from: "a.md", to: "b.md")]),
        Row(
            testDescription: "the file was moved and edited in place", files: [file("b.md", "B")],
            entries: [id: entry("a.md", "A")], notes: [id: note("A")],
            actions: [.follow(id, from: "a.md", to: "b.md"), .edit(id, path: "b.md")]),
        Row(
            testDescription: "the file was moved by a copy", files: [file("b.md", "A", inode: 9)],
            entries: [id: entry("a.md", "A")], notes: [id: note("A")],
            actions: [.follow(id, from: "a.md", to: "b.md")]),
        Row(
            testDescription: "the inode was used again by another file, born later",
            files: [
                FolderFile(
                    path: "b.md", stamp: FileStamp(size: 1, inode: 1, modified: 0, changed: 0, born: 8),
                    content: .text(file: "B", text: "B")), file("c.md", "C", inode: 3),
            ], entries: [id: entry("a.md", "A"), other: entry("c.md", "C", inode: 3)],
            notes: [id: note("A"), other: note("C")], actions: [.miss(id), .create(path: "b.md")]),
        Row(
            testDescription: "two copies of the file: neither is the one that was moved",
            files: [file("b.md", "A", inode: 8), file("c.md", "A", inode: 9)], entries: [id: entry("a.md", "A")],
            notes: [id: note("A")], actions: [.miss(id), .create(path: "b.md"), .create(path: "c.md")]),
        Row(
            testDescription: "the file is missing long enough", files: [file("b.md", "B", inode: 2)],
            entries: [id: entry("a.md", "A", missing: 301), other: entry("b.md", "B", inode: 2)],
            notes: [id: note("A"), other: note("B")], actions: [.delete(id)]),
        Row(
            testDescription: "the file is missing, but not long enough", files: [file("b.md", "B", inode: 2)],
            entries: [id: entry("a.md", "A", missing: 299), other: entry("b.md", "B", inode: 2)],
            notes: [id: note("A"), other: note("B")], actions: [.miss(id)]),
        Row(
            testDescription: "the clock was set back while the file is missing", files: [file("b.md", "B", inode: 2)],
            entries: [id: entry("a.md", "A", missing: -1_000), other: entry("b.md", "B", inode: 2)],
            notes: [id: note("A"), other: note("B")], actions: [.miss(id)]),
        Row(
            testDescription: "the only file is missing: the folder is empty",
            entries: [id: entry("a.md", "A", missing: 400)], notes: [id: note("A")], questions: 1),
        Row(
            testDescription: "the file is missing, and the note was edited", files: [file("b.md", "B", inode: 2)],
            entries: [id: entry("a.md", "A", missing: 301), other: entry("b.md", "B", inode: 2)],
            notes: [id: note("C", "2"), other: note("B")], actions: [.write(id, path: "a.md")]),
        Row(
            testDescription: "the note was deleted", files: [file("a.md", "A")], entries: [id: entry("a.md", "A")],
            actions: [.trash(id, path: "a.md")]),
        Row(
            testDescription: "the note was deleted, and the file edited", files: [file("a.md", "B")],
            entries: [id: entry("a.md", "A")], actions: [.detach(id, path: "a.md", into: nil)]),
        Row(
            testDescription: "the note was deleted and its words saved, and the file edited",
            files: [file("a.md", "B")],
            entries: [id: entry("a.md", "A")], notes: [other: note("C")], continuations: [id: other],
            actions: [.detach(id, path: "a.md", into: other)]),
        Row(
            testDescription: "the same, while the file is being written", files: [file("a.md", "", content: .settling)],
            entries: [id: entry("a.md", "A")], notes: [other: note("C")], continuations: [id: other]),
        Row(
            testDescription: "the same, before the note with the words has arrived", files: [file("a.md", "B")],
            entries: [id: entry("a.md", "A")], continuations: [id: other], isReceiving: true),
        Row(
            testDescription: "the same, and the note with the words never arrives", files: [file("a.md", "B")],
            entries: [id: entry("a.md", "A")], continuations: [id: other],
            actions: [.detach(id, path: "a.md", into: nil)]),
        Row(
            testDescription: "the same, and the note with the words has a file",
            files: [file("a.md", "B"), file("c.md", "C", inode: 3)],
            entries: [id: entry("a.md", "A"), other: entry("c.md", "C", inode: 3)], notes: [other: note("C")],
            continuations: [id: other], actions: [.detach(id, path: "a.md", into: nil)]),
        Row(
            testDescription: "both were deleted", entries: [id: entry("a.md", "A")], actions: [.forget(id)]),
        Row(testDescription: "a new file", files: [file("a.md", "A")], actions: [.create(path: "a.md")]),
        Row(testDescription: "a new empty file", files: [file("a.md", "", content: .text(file: "", text: ""))]),
        Row(
            testDescription: "a new note", notes: [id: note("A")],
            actions: [.make(id, path: "Stem.md", isUntitled: false)]),
        Row(
            testDescription: "a new note with a path", notes: [id: note("A", wish: "x/y.md")],
            actions: [.make(id, path: "x/y.md", isUntitled: false)]),
        Row(
            testDescription: "a new note whose path is taken",
            files: [file("x.md", "B")], entries: [other: entry("x.md", "B")],
            notes: [id: note("A", wish: "x.md"), other: note("B")],
            actions: [.make(id, path: "x 2.md", isUntitled: false)]),
        Row(
            testDescription: "a new note whose path is taken, except for its case",
            files: [file("X.md", "B")], entries: [other: entry("X.md", "B")],
            notes: [id: note("A", wish: "x.md"), other: note("B")],
            actions: [.make(id, path: "x.md", isUntitled: false)]),
        Row(
            testDescription: "the same, where case does not matter",
            files: [file("X.md", "B")], entries: [other: entry("X.md", "B")],
            notes: [id: note("A", wish: "x.md"), other: note("B")], foldsNames: true,
            actions: [.make(id, path: "x 2.md", isUntitled: false)]),
        Row(
            testDescription: "a new note without a path, whose name is taken, except for its case",
            files: [file("STEM.md", "B")], entries: [other: entry("STEM.md", "B")],
            notes: [id: note("A"), other: note("B")], actions: [.make(id, path: "Stem 2.md", isUntitled: false)]),
        Row(
            testDescription: "a new note whose path has a file that is being written",
            files: [file("x.md", "", content: .settling)], notes: [id: note("A", wish: "x.md")]),
        Row(
            testDescription: "a file and a note of one path and text", files: [file("x.md", "A")],
            notes: [id: note("A", wish: "x.md")], actions: [.adopt(id, path: "x.md")]),
        Row(
            testDescription: "of two notes with the path, that with the text", files: [file("x.md", "A")],
            notes: [id: note("B", wish: "x.md"), other: note("A", wish: "x.md")],
            actions: [.adopt(other, path: "x.md"), .make(id, path: "x 2.md", isUntitled: false)]),
        Row(
            testDescription: "a file and a note of one path, with different texts", files: [file("x.md", "A")],
            notes: [id: note("B", wish: "x.md")], actions: [.reconcile(id, path: "x.md")]),
        Row(
            testDescription: "a file and a note of one text", files: [file("x.md", "A"), file("y.md", "A", inode: 2)],
            notes: [id: note("A", wish: "z.md")], actions: [.adopt(id, path: "x.md"), .create(path: "y.md")]),
        Row(
            testDescription: "the note was moved elsewhere", files: [file("a.md", "A")],
            entries: [id: entry("a.md", "A")],
            notes: [id: note("A", "2", wish: "b/a.md")], actions: [.relocate(id, from: "a.md", to: "b/a.md")]),
        Row(
            testDescription: "the note was moved elsewhere to a path that is taken",
            files: [file("a.md", "A"), file("b.md", "B", inode: 2)],
            entries: [id: entry("a.md", "A"), other: entry("b.md", "B", inode: 2)],
            notes: [id: note("A", "2", wish: "b.md"), other: note("B")], actions: [.note(id)]),
        Row(
            testDescription: "pull only", files: [file("a.md", "B"), file("n.md", "N", inode: 3)],
            entries: [id: entry("a.md", "A"), other: entry("o.md", "O", inode: 2)],
            notes: [id: note("C", "2"), other: note("O")], isPullOnly: true, skipped: [.pullOnly, .pullOnly]),
    ]

    @Test(arguments: rows) func aRoundDoesWhatTheSituationNeeds(_ row: Row) {
        var situation = MirrorPlan.Situation()
        situation.folderName = "Notes"
        (situation.files, situation.entries, situation.notes) = (row.files, row.entries, row.notes)
        (situation.continuations, situation.isReceiving) = (row.continuations, row.isReceiving)
        (situation.now, situation.isPullOnly) = (MirrorPlanTests.now, row.isPullOnly)
        situation.foldsNames = row.foldsNames
        let plan = MirrorPlan(situation)
        #expect(plan.actions == row.actions)
        #expect(plan.skipped.map(\.reason) == row.skipped)
        #expect(plan.questions.count == row.questions)
    }

    @Test(arguments: [(10, 20, true), (11, 20, false), (11, 110, true), (11, 109, false), (200, 1_000, false)])
    func manyMissingFilesAreAQuestion(_ missing: Int, _ all: Int, _ areDeleted: Bool) {
        var situation = MirrorPlan.Situation()
        situation.now = MirrorPlanTests.now
        for number in 0..<all {
            let (id, path) = (NoteID(), "\(number).md")
            let isMissing = number < missing
            situation.notes[id] = MirrorNote(version: "1")
            situation.entries[id] = MirrorPlanTests.entry(
                path, path, inode: UInt64(number), missing: isMissing ? 301 : nil)
            if !isMissing { situation.files.append(MirrorPlanTests.file(path, path, inode: UInt64(number))) }
        }
        let plan = MirrorPlan(situation)
        #expect(plan.actions.count == (areDeleted ? missing : 0))
        #expect(plan.questions.count == (areDeleted ? 0 : 1))
        situation.isConfirmed = true
        #expect(MirrorPlan(situation).actions.count == missing)
    }

    // MARK: Editors that show an older text

    struct Saved: CustomTestStringConvertible {
        var testDescription: String
        var former: [FormerText]
        var current: String
        var saved: String
        var base: String
    }

    static let saves = [
        Saved(
            testDescription: "the editor has read the change", former: [FormerText(text: "a b", replaced: 90)],
            current: "a b c", saved: "a b c d", base: "a b c"),
        Saved(
            testDescription: "the editor has not read the change", former: [FormerText(text: "a b", replaced: 90)],
            current: "a b c", saved: "a b d", base: "a b"),
        Saved(
            testDescription: "the change was a deletion", former: [FormerText(text: "a b c", replaced: 90)],
            current: "a b", saved: "a b c d", base: "a b c"),
        Saved(
            testDescription: "the change was a deletion, and the editor has read it",
            former: [FormerText(text: "a b c", replaced: 90)], current: "a b", saved: "a b d", base: "a b"),
        Saved(
            testDescription: "two changes, neither of them read",
            former: [FormerText(text: "a", replaced: 80), FormerText(text: "a b", replaced: 90)], current: "a b c",
            saved: "a d", base: "a"),
        Saved(
            testDescription: "two changes, of which the editor has read the first",
            former: [FormerText(text: "a", replaced: 80), FormerText(text: "a b", replaced: 90)], current: "a b c",
            saved: "a b d", base: "a b"),
        Saved(
            testDescription: "two changes, neither of them read, the second of which took back a part of the first",
            former: [FormerText(text: "a", replaced: 80), FormerText(text: "a b c", replaced: 90)], current: "a b",
            saved: "a d", base: "a"),
        Saved(
            testDescription: "the editor has read the change, and the person removed it with other words",
            former: [FormerText(text: "a b c d e f", replaced: 90)], current: "a g", saved: "a", base: "a g"),
        Saved(
            testDescription: "the editor has not read the change, which contains a word that the person typed too",
            former: [FormerText(text: "a b", replaced: 90)], current: "a b c the d", saved: "x the y a b", base: "a b"),
        Saved(
            testDescription: "the editor has read the change, and the person removed most of it",
            former: [FormerText(text: "a b", replaced: 90)], current: "a c d e b", saved: "a e b", base: "a c d e b"),
        Saved(
            testDescription: "more than a day ago", former: [FormerText(text: "a b", replaced: 100 - 86_401)],
            current: "a b c", saved: "a b d", base: "a b c"),
        Saved(
            testDescription: "the same was saved before",
            former: [FormerText(text: "a b", replaced: 90, wasSavedStale: true)], current: "a b c", saved: "a b",
            base: "a b c"),
    ]

    @Test(arguments: saves) func theBaseIsWhatTheEditorShowed(_ save: Saved) {
        let base = FormerText.base(of: save.saved, former: save.former, current: save.current, at: 100)
        #expect(base.text == save.base)
        #expect(base.isStale == (save.base != save.current))
    }
}
