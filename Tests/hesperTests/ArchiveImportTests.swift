import Foundation
import HesperArchive
import HesperModel
import HesperStore
import Testing

@testable import HesperImport
@testable import hesper

/// Imports of exports. Into an empty account the digest is the same. Into another account nothing is undone.
@Suite struct ArchiveImportTests {
    /// An account with all kinds of objects and states.
    private func full() async throws -> (home: TestAccount, picture: UniqueID, note: UniqueID) {
        let home = try await TestAccount()
        let (tag, gone, twin) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
        try await home.makeTag(tag, "Travel")
        try await home.makeTag(gone, "gone")
        try await home.delete(gone, .tag)
        try await home.makeTag(twin, "TRAVEL")
        let picture = try await home.makeAttachment(
            (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }, "Rome.png")
        let note = try await home.makeNote(
            "# Rome\u{1f3db}\n\r\n\t\"quoted\" \\ \u{1}", (.tag(tag), .bool(true)), (.tag(gone), .bool(false)),
            (.attachment(picture), .bool(true)), (.archived, .bool(true)), (.custom("pinned"), .bool(true)),
            (.custom("ratio"), .number(0.1)), (.custom("none"), .null), (.sortDate, .date(.now)))
        for index in 0..<1_200 { try await home.makeNote("Note \(index % 40)\n\(index)") }
        try await home.delete(try await home.makeNote("thrown away"), .note)
        let object = Change(
            uniqueID: .random(), section: .objects,
            edits: [
                Edit(.objectType, .string("board"), at: nil), Edit(.custom("size"), .integer(4), at: try home.clock()),
            ])
        try await home.push([.change(object)])
        return (home, picture, note)
    }

    @Test func importIntoAnEmptyAccountReproducesTheExport() async throws {
        let (home, picture, note) = try await full()
        let path = try await home.export()
        let other = try await TestAccount()
        let report = try await other.importArchive(path)
        #expect(report == ImportReport(new: 1_201, tags: 1, attachments: 1, objects: 1, deletions: 3))
        let digests = (try await home.head()?.digest, try await other.head()?.digest)
        #expect(digests.0 == digests.1)
        #expect(try await other.bytes(of: picture) == home.bytes(of: picture))
        let notes = (try await home.notes(), try await other.notes())
        #expect(notes.0 == notes.1)
        #expect(notes.1.contains { $0.uniqueID == note && $0.archived })
        #expect(try await other.findings() == [])
        // An export of the imported account can be imported again.
        let third = try await TestAccount()
        try await third.importArchive(try await other.export())
        #expect(try await third.head()?.digest == digests.0)
    }

    @Test func repeatedImportChangesNothing() async throws {
        let (home, _, _) = try await full()
        let path = try await home.export()
        let head = try await home.head()
        #expect(try await home.importArchive(path) == ImportReport(unchanged: 1_201))
        #expect(try await home.head() == head)
        let other = try await TestAccount()
        try await other.importArchive(path)
        let otherHead = try await other.head()
        #expect(try await other.importArchive(path) == ImportReport(unchanged: 1_201))
        #expect(try await other.head() == otherHead)
    }

    @Test func laterChangesAreNotUndone() async throws {
        let home = try await TestAccount()
        let milk = try await home.makeNote("Milk", (.archived, .bool(false)))
        let gone = try await home.makeNote("gone")
        let picture = try await home.makeAttachment([1, 2], "a.png")
        let path = try await home.export()
        let note = try #require(try await home.notes().first { $0.uniqueID == milk })
        try await home.edit(note, text: "Milk\nBread")
        try await home.delete(gone, .note)
        try await home.delete(picture, .attachment)
        let head = try await home.head()
        #expect(try await home.importArchive(path) == ImportReport(unchanged: 1, deleted: 1))
        #expect(try await home.head() == head)
        #expect(try await home.notes().map(\.text) == ["Milk\nBread"])
    }

    /// The account lost changes that the archive contains, as after restoring an old backup. They are restored with their clocks.
    @Test func olderStateIsUpdated() async throws {
        let home = try await TestAccount()
        let id = try await home.makeNote("Milk")
        let old = try await home.export()
        try await home.edit(try #require(try await home.notes().first), text: "Milk\nBread")
        let new = try await home.export()
        let other = try await TestAccount()
        try await other.importArchive(old)
        #expect(try await other.importArchive(new) == ImportReport(changed: 1))
        #expect(try await other.notes().map(\.text) == ["Milk\nBread"])
        #expect(try await other.importArchive(old) == ImportReport(unchanged: 1))
        #expect(try await other.notes().map(\.uniqueID) == [id])
        #expect(try await other.head()?.digest == home.head()?.digest)
    }

    /// merge.md, Clocks, Clock skew: the exported edits have clocks in the future.
    @Test func clocksAheadAreReplaced() async throws {
        let home = try await TestAccount()
        let future = Timestamp(clamping: Timestamp.now.milliseconds + 86_400_000 * 365)
        let id = try await home.makeNote("from the future", (.archived, .bool(true)), at: future)
        let other = try await TestAccount()
        let path = try await home.export()
        #expect(try await other.importArchive(path) == ImportReport(new: 1))
        let note = try #require(try await other.notes().first)
        #expect(note.uniqueID == id && note.text == "from the future" && note.archived)
        #expect(try #require(note.textClock).timestamp < future)
        // A repeated import neither replaces the clocks again nor overwrites later changes.
        #expect(try await other.importArchive(path) == ImportReport(unchanged: 1))
        try await other.edit(note, text: "from now")
        #expect(try await other.importArchive(path) == ImportReport(unchanged: 1))
        #expect(try await other.notes().map(\.text) == ["from now"])
        #expect(try await other.findings() == [])
    }

    // MARK: Invalid archives

    @Test func attachmentsWithoutDataAreSkipped() async throws {
        let home = try await TestAccount()
        let lost = try await home.makeAttachment([1, 2, 3], "lost.png")
        let large = try await home.makeAttachment(Array(repeating: 1, count: 2_000), "large.png")
        let small = try await home.makeAttachment([4], "small.png")
        let note = try await home.makeNote("album", (.attachment(lost), .bool(true)), (.attachment(small), .bool(true)))
        try await home.loseBytes(of: lost)
        let path = try await home.export()
        let other = try await TestAccount()
        let report = try await other.importArchive(path, largest: 1_000)
        #expect((report.new, report.attachments) == (1, 1))
        #expect(
            Set(report.skipped.map { "\($0.path): \($0.reason)" }) == [
                "attachment \(lost): The bytes of attachment \(lost) are missing. Upload them, then push the attachment again.",
                "attachment \(large): An attachment must have at most 1000 bytes on this server.",
            ])
        #expect(try await other.bytes(of: small) == [4])
        #expect(try await other.notes().map(\.uniqueID) == [note])
        #expect(try await other.findings() == [])
    }

    /// Changes of attachments and of `hesper.json` are detected and reported.
    @Test func modifiedArchivesAreDetected() async throws {
        let home = try await TestAccount()
        let id = try await home.makeAttachment([1, 2, 3], "a.png")
        let milk = try await home.makeNote("Milk")
        let path = try await home.export()
        let changed = home.folder.path + "/changed.zip"
        func change(_ script: String) throws {
            try Zip.make(
                changed,
                "import json\nold = zipfile.ZipFile('\(path)')\nf = {n: old.read(n) for n in old.namelist()}\n"
                    + "j = json.loads(f['hesper.json'])\n" + script
                    + "\nfor n, b in f.items(): z.writestr(i(n), b)")
        }
        let damaged = "attachment \(id): Attachments/a.png is damaged. It differs from the exported file."
        for script in ["f['Attachments/a.png'] = b'\\1\\2\\4'", "f['Attachments/a.png'] = bytes(5_000_000)"] {
            try change(script)
            let report = try await TestAccount().importArchive(changed)
            #expect(report.skipped.map { "\($0.path): \($0.reason)" } == [damaged])
            #expect(report.new == 1)
        }
        try change("del f['Attachments/a.png']")
        #expect(
            try await TestAccount().importArchive(changed).skipped.map(\.reason) == [
                "The archive does not contain Attachments/a.png."
            ])
        try change("j['notes'][0]['text'] = 7; f['hesper.json'] = json.dumps(j, indent=4).encode()")
        let wrong = try await TestAccount().importArchive(changed)
        #expect(
            wrong.skipped.map { "\($0.path): \($0.reason)" } == [
                "note \(milk), text: text must be a string, not a number."
            ])
        try change("j['formatVersion'] = 2; f['hesper.json'] = json.dumps(j).encode()")
        await #expect(
            throws: ArchiveError("\(changed) was exported by a later version of Hesper. Update Hesper to import it.")
        ) {
            try await TestAccount().importArchive(changed)
        }
        try change("f['hesper.json'] = f['hesper.json'][:-9]")
        await #expect(throws: Problem(.malformedRequest, "")) { try await TestAccount().importArchive(changed) }
        // Packed again in a folder and in another order.
        try change("f = {'Old/' + n: b for n, b in reversed(f.items())}")
        let again = try await TestAccount()
        #expect(try await again.importArchive(changed) == ImportReport(new: 1, attachments: 1))
        #expect(try await again.head()?.digest == home.head()?.digest)
    }
}
