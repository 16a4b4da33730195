import Foundation
import HesperClient
import HesperClientTesting
import Testing

@testable import HesperMirror

private typealias Attachment = HesperClient.Attachment

/// Linked files and attachments, on two machines and in a store, on real folders.
struct MirrorAttachmentTests {
    let world = MirrorWorld()

    /// The filenames of the attachments of each note, by the note's text.
    private func attachments(_ store: LocalStore) async throws -> [String: [String]] {
        var found: [String: [String]] = [:]
        for note in try await store.all(Note.self) where !note.attachments.isEmpty {
            for id in note.attachments {
                found[note.text.string, default: []].append(try await store.get(id)?.filename ?? "-")
            }
        }
        return found.mapValues { $0.sorted() }
    }

    private func note(_ path: String, in store: LocalStore) async throws -> Note {
        await store.syncNow()
        return try #require(try await store.all(Note.self, where: { $0.$path == path }).first)
    }

    private func attach(_ bytes: String, _ name: String, to path: String, in store: LocalStore) async throws
        -> Attachment
    {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(bytes.utf8).write(to: file)
        let made = try await store.attach(file, to: try await note(path, in: store).id, filename: name)
        await store.syncNow()
        return made
    }

    @Test func linkedFilesBecomeAttachmentsAndFilesOnOtherMachines() async throws {
        let (one, other) = (try await world.machine(), try await world.machine())
        try one.write("Trips/Rome.md", "![](pics/villa.png) and ![[map.pdf]]")
        try one.write("Trips/pics/villa.png", "villa")
        try one.write("maps/map.pdf", "map")
        try one.write("unlinked.png", "unlinked")
        #expect(try await one.sync().attached == 2)
        #expect(
            try await attachments(one.store) == [
                "![](pics/villa.png) and ![[map.pdf]]": ["Trips/pics/villa.png", "maps/map.pdf"]
            ])
        #expect(try await other.sync().made == 3)
        var expected = one.contents
        expected["unlinked.png"] = nil
        #expect(other.contents == expected)
        for machine in [one, other] {
            #expect(try await machine.sync().changes == 0)
            try await machine.restart()
            #expect(try await machine.sync().changes == 0)
        }
        #expect(try await one.store.count(Attachment.self) == 2)
    }

    @Test func anAttachmentFromElsewhereBecomesAFileAndNeverReplacesOne() async throws {
        let (one, web) = (try await world.machine(), try await world.device())
        try one.write("Soup.md", "Soup")
        try one.write("taken.png", "mine")
        try one.write("equal.png", "equal")
        try await one.sync()
        _ = try await attach("photo", "photo.png", to: "Soup.md", in: web)
        _ = try await attach("in a folder", "pics/photo.png", to: "Soup.md", in: web)
        _ = try await attach("theirs", "taken.png", to: "Soup.md", in: web)
        _ = try await attach("equal", "equal.png", to: "Soup.md", in: web)
        _ = try await attach("escaping", "../../escaping.png", to: "Soup.md", in: web)
        _ = try await attach("hidden", ".ssh/config", to: "Soup.md", in: web)
        _ = try await attach("text", "text.md", to: "Soup.md", in: web)
        let report = try await one.sync()
        #expect(report.adopted == 1 && report.made == 5)
        #expect(report.skipped == [SkippedFile(path: "text.md", reason: .noteName)])
        #expect(
            one.contents.filter { $0.key != "pics" } == [
                "Soup.md": "Soup", "taken.png": "mine", "taken 2.png": "theirs", "equal.png": "equal",
                "photo.png": "photo", "pics/photo.png": "in a folder", "escaping.png": "escaping", "config": "hidden",
            ])
        #expect(try await one.store.count(Note.self) == 1)
    }

    @Test func changedBytesAreANewAttachmentAtTheSamePath() async throws {
        let (one, other) = (try await world.machine(), try await world.machine())
        try one.write("Rome.md", "![](villa.png)")
        try one.write("villa.png", "villa")
        try await one.sync()
        try await other.sync()
        try one.write("villa.png", "villa at night")
        #expect(try await one.sync().attached == 1)
        try await other.sync()
        #expect(other.read("villa.png") == "villa at night")
        #expect(other.trash == ["villa.png": "villa"])
        #expect(try await attachments(other.store) == ["![](villa.png)": ["villa.png"]])
        // Back to the former bytes: the former attachment returns.
        try other.write("villa.png", "villa")
        try await other.sync()
        try await one.sync()
        #expect(one.read("villa.png") == "villa")
        #expect(try await one.store.count(Attachment.self) == 2)
        // An empty file is being written.
        try one.write("villa.png", "")
        #expect(try await one.sync().skipped.map(\.reason) == [.fileBecameEmpty])
        #expect(try await attachments(other.store) == ["![](villa.png)": ["villa.png"]])
    }

    @Test func aDeletedFileRemovesItsAttachmentAfterFiveMinutes() async throws {
        let (one, other) = (try await world.machine(), try await world.machine())
        try one.write("Rome.md", "![](villa.png) ![](map.png)")
        try one.write("villa.png", "villa")
        try one.write("map.png", "map")
        try await one.sync()
        try await other.sync()
        try one.remove("villa.png")
        #expect(try await one.sync().waiting == ["villa.png"])
        world.pass(200)
        try one.write("villa.png", "villa")
        #expect(try await one.sync().waiting.isEmpty)
        try one.remove("villa.png")
        try await one.sync()
        world.pass(400)
        #expect(try await one.sync().detached == 1)
        #expect(try await one.sync().changes == 0)
        try await other.sync()
        #expect(other.read("villa.png") == nil && other.trash == ["villa.png": "villa"])
        #expect(try await attachments(other.store) == ["![](villa.png) ![](map.png)": ["map.png"]])
        // It returns.
        try one.write("villa.png", "villa")
        try await one.sync()
        try await other.sync()
        #expect(other.read("villa.png") == "villa")
    }

    @Test func manyDeletedFilesAreAQuestion() async throws {
        let one = try await world.machine()
        try one.write("Rome.md", (0..<12).map { "![](\($0).png)" }.joined(separator: "\n"))
        for number in 0..<12 { try one.write("\(number).png", "picture \(number)") }
        try await one.sync()
        for number in 0..<11 { try one.remove("\(number).png") }
        try await one.sync()
        world.pass(400)
        let report = try await one.sync()
        #expect(report.questions.count == 1 && report.detached == 0)
        #expect(try await one.sync(isConfirmed: true).detached == 11)
        #expect(try await attachments(one.store).values.first == ["11.png"])
    }

    @Test func anAttachmentThatWasRemovedElsewhereIsInTheTrash() async throws {
        let (one, web) = (try await world.machine(), try await world.device())
        try one.write("Rome.md", "![](villa.png) ![](map.png)")
        try one.write("villa.png", "villa")
        try one.write("map.png", "map")
        try await one.sync()
        let note = try await note("Rome.md", in: web)
        try await web.update(note.id) { note in
            for id in note.attachments { note.attachments.remove(id) }
        }
        await web.syncNow()
        // A file that was changed here stays, and is attached again.
        try one.write("map.png", "map with notes")
        #expect(try await one.sync().trashed == 1)
        #expect(one.trash == ["villa.png": "villa"])
        #expect(one.read("map.png") == "map with notes")
        await web.syncNow()
        #expect(try await attachments(web) == ["![](villa.png) ![](map.png)": ["map.png"]])
    }

    @Test func aFileHasOneHolderWhichHandsItOn() async throws {
        let (one, other) = (try await world.machine(), try await world.machine())
        try one.write("b.md", "B ![](villa.png)")
        try one.write("c.md", "C ![](villa.png)")
        try one.write("a.md", "A [x](villa.png)")
        try one.write("villa.png", "villa")
        try await one.sync()
        try await other.sync()
        #expect(try await attachments(one.store) == ["A [x](villa.png)": ["villa.png"]])
        // The link is removed.
        try one.write("a.md", "A")
        try await one.sync()
        try await other.sync()
        #expect(try await attachments(other.store) == ["B ![](villa.png)": ["villa.png"]])
        #expect(other.read("villa.png") == "villa" && other.trash.isEmpty)
        // The note is deleted on another machine.
        try other.remove("b.md")
        try await other.sync()
        world.pass(400)
        #expect(try await other.sync().deleted == 1)
        try await one.sync()
        #expect(try await attachments(one.store) == ["C ![](villa.png)": ["villa.png"]])
        // Nobody links to it any more: the note keeps it.
        try one.write("c.md", "C")
        try await one.sync()
        try await other.sync()
        #expect(try await attachments(other.store) == ["C": ["villa.png"]])
        // Another note links to it.
        try other.write("d.md", "D ![[villa.png]]")
        try await other.sync()
        try await one.sync()
        #expect(try await attachments(one.store) == ["D ![[villa.png]]": ["villa.png"]])
        for machine in [one, other] {
            #expect(machine.read("villa.png") == "villa" && machine.trash["villa.png"] == nil)
        }
        #expect(try await one.store.count(Attachment.self) == 1)
    }

    @Test func aMovedFileIsANewAttachment() async throws {
        let (one, other) = (try await world.machine(), try await world.machine())
        try one.write("Rome.md", "![](villa.png)")
        try one.write("villa.png", "villa")
        try await one.sync()
        try await other.sync()
        // As Obsidian moves it: the link is changed too.
        try one.move("villa.png", "pics/villa.png")
        try one.write("Rome.md", "![](pics/villa.png)")
        try await one.sync()
        try await other.sync()
        #expect(other.contents == one.contents)
        #expect(other.trash.isEmpty)
        #expect(try await attachments(other.store) == ["![](pics/villa.png)": ["pics/villa.png"]])
    }

    @Test func aMovedFileThatATextNamesStaysTheSameAttachment() async throws {
        let (one, web) = (try await world.machine(), try await world.device())
        try one.write("Rome.md", "Rome")
        try await one.sync()
        let photo = try await attach("villa", "villa.png", to: "Rome.md", in: web)
        let note = try await note("Rome.md", in: web)
        try await web.update(note.id) { $0.text = "![](attachment:\(photo.id))" }
        await web.syncNow()
        try await one.sync()
        try one.move("villa.png", "pics/villa.png")
        #expect(try await one.sync().moved == 1)
        #expect(try await one.sync().changes == 0)
        #expect(Array(try await one.store.get(note.id)?.attachments ?? []) == [photo.id])
    }

    @Test func deletingANoteHereKeepsItsPictureHere() async throws {
        let (one, other) = (try await world.machine(), try await world.machine())
        try one.write("Rome.md", "![](villa.png)")
        try one.write("Soup.md", "Soup")
        try one.write("villa.png", "villa")
        try await one.sync()
        try await other.sync()
        try one.remove("Rome.md")
        try await one.sync()
        world.pass(400)
        #expect(try await one.sync().deleted == 1)
        try await other.sync()
        #expect(one.read("villa.png") == "villa" && one.trash.isEmpty)
        #expect(other.trash == ["Rome.md": "![](villa.png)", "villa.png": "villa"])
        // The picture is linked again.
        try one.write("Soup.md", "Soup ![](villa.png)")
        try await one.sync()
        try await other.sync()
        #expect(other.read("villa.png") == "villa")
    }

    @Test func aDeletedNoteThatBecomesANoteAgainKeepsItsPicture() async throws {
        let (one, web) = (try await world.machine(), try await world.device())
        try one.write("Rome.md", "![](villa.png)")
        try one.write("villa.png", "villa")
        try await one.sync()
        let note = try await note("Rome.md", in: web)
        try await web.delete(note.id)
        try await web.sendDeletionsNow()
        await web.syncNow()
        try one.write("Rome.md", "![](villa.png) with new words")
        try await one.sync()
        #expect(one.read("villa.png") == "villa" && one.trash.isEmpty)
        #expect(try await attachments(one.store) == ["![](villa.png) with new words": ["villa.png"]])
    }

    @Test func aLostStateDoublesNothing() async throws {
        let (one, web) = (try await world.machine(), try await world.device())
        try one.write("Rome.md", "![](villa.png)")
        try one.write("Soup.md", "Soup ![](Attachments/photo.png)")
        try one.write("villa.png", "villa")
        try await one.sync()
        _ = try await attach("photo", "photo.png", to: "Soup.md", in: web)
        try await one.sync()
        // As an export names it.
        try one.move("photo.png", "Attachments/photo.png")
        let before = one.contents
        await one.store.suspend()
        let again = try await Machine(one.url, try await world.device(), false) { Date() }
        try await again.sync()
        #expect(again.contents.count == before.count)
        #expect(try await again.store.count(Attachment.self) == 2)
        #expect(again.read("Attachments/photo.png") == "photo")
    }

    @Test func twoMachinesWithTheSameFilesMakeOneAttachment() async throws {
        let (one, other) = (try await world.machine(), try await world.machine())
        world.server.isOffline = true
        for (machine, name) in [(one, "A.md"), (other, "B.md")] {
            try machine.write(name, "\(name) ![](villa.png)")
            try machine.write("villa.png", "villa")
            _ = try await machine.mirror.round()
        }
        world.server.isOffline = false
        for machine in [one, other, one, other, one, other] { try await machine.sync() }
        for machine in [one, other] {
            #expect(machine.contents.keys.sorted() == ["A.md", "B.md", "villa.png"])
            #expect(try await attachments(machine.store).values.flatMap(\.self) == ["villa.png"])
        }
    }

    @Test func twoMachinesWithDifferentFilesKeepBoth() async throws {
        let (one, other) = (try await world.machine(), try await world.machine())
        world.server.isOffline = true
        for (machine, name) in [(one, "A.md"), (other, "B.md")] {
            try machine.write(name, "\(name) ![](villa.png)")
            try machine.write("villa.png", "villa of \(name)")
            _ = try await machine.mirror.round()
        }
        world.server.isOffline = false
        for machine in [one, other, one, other] { try await machine.sync() }
        for machine in [one, other] {
            #expect(
                Set(machine.contents.filter { $0.key.hasSuffix("png") }.values) == ["villa of A.md", "villa of B.md"])
            #expect(try await machine.store.count(Attachment.self) == 2)
        }
    }

    @Test func unusableFilesAreListedAndNeverDeleted() async throws {
        let one = try await world.machine()
        try one.write(
            "Rome.md", "![](link.png) ![](villa.png) ![](old/map.png) ![](.hidden.png) ![](Other.md) ![](folder)")
        for name in ["villa.png", "old/map.png", ".hidden.png", "folder/x.png"] { try one.write(name, name) }
        try one.write(".hesperignore", "old/\n")
        try FileManager.default.createSymbolicLink(
            atPath: one.url.appending(path: "link.png").path, withDestinationPath: "villa.png")
        #expect(try await one.sync().attached == 1)
        // What was an attachment can be unusable too.
        try one.remove("villa.png")
        try FileManager.default.createSymbolicLink(
            atPath: one.url.appending(path: "villa.png").path, withDestinationPath: "old/map.png")
        try await one.sync()
        world.pass(400)
        let report = try await one.sync()
        #expect(report.skipped == [SkippedFile(path: "villa.png", reason: .link)])
        #expect(try await attachments(one.store).values.first == ["villa.png"])
    }

    @Test func pullOnlySendsNoFiles() async throws {
        let (one, web) = (try await world.machine(isPullOnly: true), try await world.device())
        var note = Note(text: "![](mine.png)")
        note.path = "Rome.md"
        try await web.insert(note)
        _ = try await attach("villa", "villa.png", to: "Rome.md", in: web)
        _ = try await attach("map", "map.png", to: "Rome.md", in: web)
        try await one.sync()
        try one.write("mine.png", "mine")
        try one.write("villa.png", "changed")
        try one.remove("map.png")
        try await one.sync()
        world.pass(400)
        let report = try await one.sync()
        #expect(report.skipped.map(\.path).sorted() == ["mine.png", "villa.png"])
        await web.syncNow()
        #expect(try await attachments(web) == ["![](mine.png)": ["map.png", "villa.png"]])
        try await web.update(note.id) { note in
            for id in note.attachments { note.attachments.remove(id) }
        }
        await web.syncNow()
        try await one.sync()
        #expect(one.read("villa.png") == "changed")
    }

    @Test func aPlanCountsFilesAndChangesNothing() async throws {
        let one = try await world.machine()
        try one.write("Rome.md", "![](villa.png)")
        try one.write("villa.png", "villa")
        let plan = try await one.mirror.plan()
        #expect(plan.notes.actions == [.create(path: "Rome.md")])
        #expect(plan.attachments.actions == [.create(path: "villa.png", note: nil)])
        #expect(try await one.store.count(Attachment.self) == 0)
        #expect(
            try await MirrorStatus(one.mirror).plan == [
                "Files that become notes": 1, "Files that become attachments": 1,
            ])
    }

    @Test func filesOverTheLimitOfTheServerAreListed() async throws {
        let one = try await world.machine()
        try one.write("Rome.md", "![](large.bin) ![](small.bin)")
        try one.write("small.bin", "small")
        #expect(FileManager.default.createFile(atPath: one.url.appending(path: "large.bin").path, contents: nil))
        // A file with a hole takes no space.
        let handle = try FileHandle(forWritingTo: one.url.appending(path: "large.bin"))
        try handle.truncate(atOffset: (100 << 20) + 1)
        try handle.close()
        let report = try await one.sync()
        #expect(report.skipped == [SkippedFile(path: "large.bin", reason: .overLimit)])
        #expect(try await attachments(one.store).values.first == ["small.bin"])
    }
}
