import Foundation
import HesperClient
import HesperClientTesting
import Testing

import struct HesperModel.FrontMatter

@testable import HesperMirror

/// Two machines and a store, on real folders.
struct MirrorTests {
    let world = MirrorWorld()

    @Test func filesBecomeNotesAndNotesBecomeFiles() async throws {
        let (one, web) = (try await world.machine(), try await world.device())
        try one.write("Soup.md", "# Soup\nLeek\n")
        try one.write("Kitchen/Bread.txt", "Flour")
        try await web.insert(Note(text: "Written in the Web App\nmore"))
        await web.syncNow()
        let report = try await one.sync()
        #expect(report.created == 2 && report.made == 1)
        #expect(
            one.contents
                == [
                    "Soup.md": "# Soup\nLeek\n", "Kitchen": nil, "Kitchen/Bread.txt": "Flour",
                    "Written in the Web App.md": "Written in the Web App\nmore",
                ].compactMapValues { $0 })
        let other = try await world.machine()
        try await other.sync()
        #expect(other.contents == one.contents)
        #expect(try await other.texts() == one.texts())
        // Nothing is left to do, and no file was touched.
        let stamps = try one.contents.keys.sorted().map { try Folder(one.url.path).stamp($0) }
        #expect(try await one.sync().changes == 0)
        try await one.restart()
        #expect(try await one.sync().changes == 0)
        #expect(try one.contents.keys.sorted().map { try Folder(one.url.path).stamp($0) } == stamps)
    }

    @Test func editsOfBothSidesAreMerged() async throws {
        let (one, other) = (try await world.machine(), try await world.machine())
        try one.write("Soup.md", "Soup\nBread\n")
        try await one.sync()
        try await other.sync()
        try one.write("Soup.md", "Leek soup\nBread\n")
        try other.write("Soup.md", "Soup\nBread and salt\n")
        try await one.sync()
        try await other.sync()
        try await one.sync()
        #expect(one.read("Soup.md") == "Leek soup\nBread and salt\n")
        #expect(other.contents == one.contents)
    }

    @Test func aNoteThatWasEditedElsewhereIsWrittenToItsFile() async throws {
        let (one, web) = (try await world.machine(), try await world.device())
        try one.write("Soup.md", "Soup")
        let file = one.url.appending(path: "Soup.md").path
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
        try await one.sync()
        await web.syncNow()
        let note = try #require(try await web.all(Note.self).first)
        #expect(note.path == "Soup.md")
        try await web.update(note.id) { $0.text = "Soup of the day" }
        await web.syncNow()
        try await one.sync()
        #expect(one.contents == ["Soup.md": "Soup of the day"])
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o640)
        var report = Mirror.Report()
        try await one.mirror.removeFormerFiles(&report, isAtEnd: true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: one.url.path + "/.hesper/tmp").isEmpty)
    }

    @Test func aFileThatIsSavedAtTheLastMomentIsMerged() async throws {
        let (one, web) = (try await world.machine(), try await world.device())
        try one.write("Soup.md", "Soup\nBread\n")
        try await one.sync()
        await web.syncNow()
        let note = try #require(try await web.all(Note.self).first)
        try await web.update(note.id) { $0.text = "Leek soup\nBread\n" }
        await web.syncNow()
        await one.store.syncNow()
        let before = try #require(try Folder(one.url.path).stamp("Soup.md"))
        // The file is saved after the scan: what the exchange returns is not what was read.
        try one.write("Soup.md", "Soup\nBread and salt\n")
        let folder = try Folder(one.url.path)
        let now = try #require(try folder.stamp("Soup.md"))
        #expect(now != before)
        guard case .done(_, let former, let bytes) = try folder.replace("Soup.md", Data("x".utf8), expected: now) else {
            Issue.record("It was not replaced")
            return
        }
        #expect(String(decoding: bytes, as: UTF8.self) == "Soup\nBread and salt\n")
        #expect(one.read(".hesper/tmp/\(former)") == "Soup\nBread and salt\n")
        guard case .unexpected = try folder.replace("Soup.md", Data("y".utf8), expected: now) else {
            Issue.record("It was replaced")
            return
        }
        #expect(one.read("Soup.md") == "x")
    }

    @Test func anEditorThatShowsADeletedNoteDoesNotReplaceTheNextOneAtItsPath() async throws {
        let (one, web) = (try await world.machine(), try await world.device())
        try one.write("Soup.md", "Soup\nBread\n")
        try one.write("Other.md", "Other")
        try await one.sync()
        await web.syncNow()
        let note = try #require(try await web.all(Note.self, where: { $0.$path == "Soup.md" }).first)
        try await web.delete(note.id)
        try await web.sendDeletionsNow()
        var next = Note(text: "Leek\nMilk\n")
        next.path = "Soup.md"
        try await web.insert(next)
        await web.syncNow()
        try await one.sync()
        #expect(one.read("Soup.md") == "Leek\nMilk\n")
        // An editor that was open all the time.
        try one.write("Soup.md", "Soup\nBread\nSalt\n")
        try await one.sync()
        let words = try #require(one.read("Soup.md")).split(separator: "\n")
        #expect(Set(words).isSuperset(of: ["Leek", "Milk", "Salt"]))
        // If it saves the same once more, the person wants it.
        try await one.sync()
        try one.write("Soup.md", "Soup\nBread\nSalt\n")
        try await one.sync()
        #expect(one.read("Soup.md") == "Soup\nBread\nSalt\n")
    }

    /// An editor has opened a file in order to save it, when the mirror replaces it with the text of another device.
    private func replacedFile() async throws -> (Machine, web: LocalStore, NoteID, FileHandle) {
        let (one, web) = (try await world.machine(), try await world.device())
        try one.write("Soup.md", "Soup\nBread\n")
        try await one.sync()
        await web.syncNow()
        let note = try #require(try await web.all(Note.self).first)
        let handle = try FileHandle(forUpdating: one.url.appending(path: "Soup.md"))
        one.mirror.savingTime = .max
        try await web.update(note.id) { $0.text = "Leek soup\nBread\n" }
        await web.syncNow()
        await one.store.syncNow()
        #expect(try await one.mirror.round().written == 1)
        return (one, web, note.id, handle)
    }

    @Test func whatIsWrittenToAReplacedFileIsMerged() async throws {
        let (one, _, _, handle) = try await replacedFile()
        try handle.truncate(atOffset: 0)
        // It takes longer than expected.
        one.mirror.savingTime = 0
        _ = try await one.mirror.round()
        try handle.write(contentsOf: Data("Soup\nBread and salt\n".utf8))
        try handle.close()
        try await one.sync()
        #expect(one.contents == ["Soup.md": "Leek soup\nBread and salt\n"])
        #expect(try await one.texts() == ["Leek soup\nBread and salt\n"])
    }

    @Test func whatIsWrittenToTheReplacedFileOfADeletedNoteIsInTheTrash() async throws {
        let (one, web, note, handle) = try await replacedFile()
        try handle.write(contentsOf: Data("Soup\nBread and salt\n".utf8))
        try handle.close()
        try await web.delete(note)
        try await web.sendDeletionsNow()
        await web.syncNow()
        try await one.sync()
        #expect(one.contents.isEmpty)
        #expect(one.trash.values.sorted() == ["Leek soup\nBread\n", "Soup\nBread and salt\n"])
    }

    @Test func whatAKilledProcessLeftIsInTheTrash() async throws {
        let one = try await world.machine()
        try one.write("Soup.md", "Soup")
        try await one.sync()
        try one.write(".hesper/tmp/known", "Soup")
        try one.write(".hesper/tmp/unknown", "words")
        try one.write(".hesper/trash/2020-01-01/Old.md", "old")
        try one.write(".hesper/trash/mine/Kept.md", "kept")
        try await one.mirror.begin()
        #expect(one.trash == ["interrupted/unknown.md": "words", "Kept.md": "kept"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: one.url.path + "/.hesper/tmp").isEmpty)
    }

    @Test func aFileThatAKilledProcessMadeBelongsToItsNote() async throws {
        let (one, web) = (try await world.machine(), try await world.device())
        for text in ["Soup\nBread\n", "Milk\n"] { try await web.insert(Note(text: MergedText(text))) }
        await web.syncNow()
        await one.store.syncNow()
        // The process was killed after the first file was made, and before that was saved.
        let files = try await one.store.all(Note.self).map { note in
            NewFile(
                id: note.id, path: "\(note.text.string.prefix(4)).md", text: note.text.string, hasCRLF: false,
                isUntitled: false)
        }
        try await MirrorMap(one.store).announce(files)
        try one.write("Soup.md", "Soup\nBread and salt\n")
        try one.write("Milk.md", "Something else that the person wrote")
        try await one.restart()
        try await one.mirror.begin()
        try await one.sync()
        #expect(
            one.contents == [
                "Soup.md": "Soup\nBread and salt\n", "Milk.md": "Something else that the person wrote",
                "Milk 2.md": "Milk\n",
            ])
        #expect(try await one.store.count(Note.self) == 3)
    }

    @Test func aFolderThatAnotherMachineSyncsIsLeftAlone() async throws {
        let one = try await world.machine()
        one.mirror.marker = try Marker.read(one.mirror.folder)
        try one.write("Soup.md", "Soup")
        try await one.sync()
        var other = try #require(one.mirror.marker)
        other.host = "other"
        try other.write(one.mirror.folder)
        try one.write("Bread.md", "Bread")
        await #expect(throws: MirrorError.self) { try await one.mirror.round() }
        #expect(try await one.store.count(Note.self) == 1)
        try other.write(try Folder(one.url.appending(path: "Inner", directoryHint: .isDirectory).making().path))
        one.mirror.marker = other
        await #expect(throws: MirrorError.self) { try await one.mirror.round() }
        #expect(Marker.mirror(above: try Folder(one.url.appending(path: "Inner").path)) == one.mirror.folder.path)
    }

    @Test func pathsThatCannotBeUsedGetOtherNames() async throws {
        let (one, web) = (try await world.machine(), try await world.device())
        try FileManager.default.createDirectory(
            at: one.url.appending(path: "Soup.md"), withIntermediateDirectories: true)
        try one.write("elsewhere/x.md", "x")
        try FileManager.default.createSymbolicLink(
            at: one.url.appending(path: "link"), withDestinationURL: one.url.appending(path: "elsewhere"))
        for (text, path) in [
            ("Soup", "Soup.md"), ("Linked", "link/a.md"), ("Hidden", ".ssh/a.md"), ("Up", "a/../b.md"),
        ] {
            var note = Note(text: MergedText(text))
            note.path = path
            try await web.insert(note)
        }
        await web.syncNow()
        try await one.sync()
        #expect(
            one.contents.filter { !$0.key.hasPrefix("elsewhere") } == [
                "Soup 2.md": "Soup", "Linked.md": "Linked", "Hidden.md": "Hidden", "Up.md": "Up",
            ])
        #expect(one.read("elsewhere/a.md") == nil)
    }

    @Test func aFileMovesWithItsNote() async throws {
        let (one, other) = (try await world.machine(), try await world.machine())
        try one.write("Soup.md", "Soup")
        try await one.sync()
        try await other.sync()
        try one.move("Soup.md", "Kitchen/Dinner.md")
        #expect(try await one.sync().moved == 1)
        try await other.sync()
        #expect(other.read("Kitchen/Dinner.md") == "Soup")
        #expect(other.read("Soup.md") == nil)
        #expect(try await one.store.count(Note.self) == 1)
        // Only the case of the name.
        try one.move("Kitchen/Dinner.md", "Kitchen/DINNER.md")
        try await one.sync()
        try await other.sync()
        #expect(other.contents.keys.sorted() == ["Kitchen", "Kitchen/DINNER.md"].filter { other.read($0) != nil })
    }

    @Test func aFileThatWasMovedAndChangedByRenamingStaysTheSameNote() async throws {
        let one = try await world.machine()
        try one.write("Soup.md", "Soup")
        try await one.sync()
        let id = try #require(try await one.store.all(Note.self).first).id
        // As vim saves: the new text is in a new inode.
        try one.write("Soup.md~", "Leek soup")
        try one.remove("Soup.md")
        try one.move("Soup.md~", "Soup.md")
        try await one.sync()
        #expect(try await one.store.get(id)?.text == "Leek soup")
        #expect(try await one.store.count(Note.self) == 1)
    }

    @Test func unusableFilesAreListedAndNeverSentOrDeleted() async throws {
        let one = try await world.machine()
        for name in ["a", "b", "c", "d", "e"] { try one.write("\(name).md", "Note \(name)") }
        try await one.sync()
        try one.write("a.md", Data(repeating: 0x61, count: (1 << 20) + 1))
        try one.write("b.md", Data([0xff, 0xfe, 0x41]))
        try one.write("c.md", Data([0x41, 0, 0x42]))
        try one.write("d.md", "")
        try one.remove("e.md")
        try FileManager.default.createSymbolicLink(
            atPath: one.url.appending(path: "e.md").path, withDestinationPath: "/etc/hostname")
        let report = try await one.sync()
        world.pass(400)
        try await one.sync()
        #expect(
            report.skipped.sorted { $0.path < $1.path }.map(\.reason) == [
                .tooLarge, .notUTF8, .binary, .becameEmpty, .link,
            ])
        #expect(try await one.texts() == ["a", "b", "c", "d", "e"].map { "Note \($0)" })
        #expect(one.contents.count == 5)
    }

    @Test func editorsFilesAndConflictCopiesAreNotNotes() async throws {
        let one = try await world.machine()
        for name in [
            ".hidden.md", "Soup.md~", "#Soup.md#", "4913", ".Soup.md.swp", "photo.jpg",
            "Soup (Ada's conflicted copy 2026-11-26).md", "Soup.sync-conflict-20261126-120000-ABCDEFG.md",
            "old/Soup.md",
            "draft.md",
        ] {
            try one.write(name, "Soup")
        }
        try one.write(".hesperignore", "# comment\nold/\n/draft.md\n")
        let report = try await one.sync()
        #expect(try await one.store.count(Note.self) == 0)
        #expect(report.skipped.map(\.reason) == [.conflictCopy, .conflictCopy])
    }

    @Test func aDeletedNoteWithNewWordsInItsFileLivesOn() async throws {
        let (one, web) = (try await world.machine(), try await world.device())
        try one.write("Soup.md", "Soup")
        try one.write("Bread.md", "Bread")
        try await one.sync()
        await web.syncNow()
        for note in try await web.all(Note.self) { try await web.delete(note.id) }
        try await web.sendDeletionsNow()
        await web.syncNow()
        try one.write("Soup.md", "Soup with new words")
        try await one.sync()
        #expect(one.contents == ["Soup.md": "Soup with new words"])
        #expect(one.trash == ["Bread.md": "Bread"])
        #expect(try await one.texts() == ["Soup with new words"])
    }

    @Test func aDeletedNoteWhoseUnsentTextLivesOnIsNotDoubledByItsFile() async throws {
        let (one, web) = (try await world.machine(), try await world.device())
        try one.write("Soup.md", "Soup\n")
        try await one.sync()
        await web.syncNow()
        world.server.isOffline = true
        try one.write("Soup.md", "Soup\nunsent\n")
        #expect(try await one.mirror.round().edited == 1)
        world.server.isOffline = false
        let note = try #require(try await web.all(Note.self).first)
        try await web.delete(note.id)
        try await web.sendDeletionsNow()
        await web.syncNow()
        // The store moves the unsent text to a new note, and the file has other words again.
        try one.write("Soup.md", "Soup\nunsent\nlater\n")
        for _ in 0..<2 { try await one.sync() }
        #expect(try await one.texts() == ["Soup\nunsent\nlater\n"])
        #expect(one.contents == ["Soup.md": "Soup\nunsent\nlater\n"])
    }

    @Test func linesEndAsTheFileHasThem() async throws {
        let (one, other) = (try await world.machine(), try await world.machine())
        try one.write("Windows.md", "\u{feff}one\r\ntwo\r\n")
        try one.write("Mixed.md", "one\r\ntwo\n")
        try await one.sync()
        try await other.sync()
        #expect(try await other.texts() == ["\u{feff}one\ntwo\n", "one\r\ntwo\n"].sorted())
        #expect(other.contents == one.contents)
        try other.write("Windows.md", "\u{feff}one\r\ntwo\r\nthree\r\n")
        try await other.sync()
        try await one.sync()
        #expect(one.read("Windows.md") == "\u{feff}one\r\ntwo\r\nthree\r\n")
        try one.write("Windows.md", "\u{feff}one\ntwo\nthree\n")
        try await one.sync()
        try await other.sync()
        #expect(other.read("Windows.md") == "\u{feff}one\ntwo\nthree\n")
    }

    @Test func tagsInFrontMatterAreTagsOfTheNote() async throws {
        let (one, web) = (try await world.machine(), try await world.device())
        let kitchen = try await web.insert(Tag(name: "Kitchen"))
        await web.syncNow()
        try one.write("Soup.md", "---\ntitle: Soup\ntags: [kitchen, \"two words\"]\n---\nLeek #not\n")
        try await one.sync()
        await web.syncNow()
        var note = try #require(try await web.all(Note.self).first)
        func names() async throws -> [String] {
            let tags = try await web.all(Tag.self)
            return note.tags.compactMap { id in tags.first { $0.id == id }?.name }.sorted()
        }
        #expect(try await names() == ["Kitchen", "two words"])
        #expect(note.tags.contains(kitchen.id))
        // A tag that was added elsewhere stays, and is not written to the file.
        let own = try await web.insert(Tag(name: "own"))
        try await web.update(note.id) { $0.tags.insert(own.id) }
        await web.syncNow()
        try one.write("Soup.md", "---\ntitle: Soup\ntags:\n  - two words\n  - \"#new\"\n---\nLeek #not\n")
        try await one.sync()
        await web.syncNow()
        note = try #require(try await web.get(note.id))
        #expect(try await names() == ["new", "own", "two words"])
        #expect(note.text.string == one.read("Soup.md"))
    }

    @Test(
        arguments: [
            ("no front matter", nil, nil), ("---\ntitle: not closed\n", nil, nil),
            ("a\n---\ntitle: late\n---\n", nil, nil),
            ("---\n---\nrest", nil, []), ("\u{feff}---\ntitle: 'a: b'\n---\n", "a: b", []),
            ("---\ntags: a, b\n...\n", nil, ["a", "b"]), ("---\ntags: []\n---\n", nil, []),
            ("---\ntags:\n- a\n- b\nother:\n- c\n---\n", nil, ["a", "b"]),
            ("---\nother:\n  tags: [x]\ntagsx: [y]\n---\n", nil, []),
            ("---\r\ntags: [a, a, 'b']\r\n---\r\nrest", nil, ["a", "b"]),
        ] as [(String, String?, [String]?)])
    func frontMatterIsRead(_ text: String, _ title: String?, _ tags: [String]?) {
        #expect(FrontMatter(text)?.title == title)
        #expect(FrontMatter(text)?.tags == tags)
    }

    @Test func anUntitledNoteGetsANameWhenItHasAFirstLine() async throws {
        let (one, web) = (try await world.machine(), try await world.device())
        let note = try await web.insert(Note())
        await web.syncNow()
        try await one.sync()
        #expect(one.contents == ["Untitled.md": ""])
        try await web.update(note.id) { $0.text = "Soup\n" }
        await web.syncNow()
        try await one.sync()
        #expect(one.contents == ["Soup.md": "Soup\n"])
        try await web.update(note.id) { $0.text = "Bread\n" }
        await web.syncNow()
        try await one.sync()
        #expect(one.contents == ["Soup.md": "Bread\n"])
    }

    @Test func notesWithEqualNamesGetNumbers() async throws {
        let (one, web) = (try await world.machine(), try await world.device())
        try one.write("soup.md", "mine")
        for text in ["Soup\n1", "SOUP\n2", "---\ntitle: Soup\n---\n3"] {
            try await web.insert(Note(text: MergedText(text), creationDate: Date(timeIntervalSince1970: 0)))
        }
        var escaping = Note(text: "escaping")
        escaping.path = "../escaping.md"
        try await web.insert(escaping)
        await web.syncNow()
        try await one.sync()
        #expect(
            Set(one.contents.keys.map { $0.lowercased() }) == [
                "soup.md", "soup 2.md", "soup 3.md", "soup 4.md", "escaping.md",
            ])
        #expect(one.read("soup.md") == "mine")
    }

    @Test func aLostStateDoublesNothing() async throws {
        let (one, web) = (try await world.machine(), try await world.device())
        try one.write("Soup.md", "Soup")
        try one.write("Kitchen/Bread.md", "Bread")
        try await web.insert(Note(text: "From the web"))
        await web.syncNow()
        try await one.sync()
        let before = one.contents
        let again = try await Machine(one.url, try await world.device(), false) { Date() }
        try await again.sync()
        #expect(again.contents == before)
        #expect(try await again.store.count(Note.self) == 3)
    }

    @Test func afterALostStateAFileWithAFormerTextIsUpdated() async throws {
        let (one, web) = (try await world.machine(), try await world.device())
        try one.write("Soup.md", "Soup")
        try one.write("Bread.md", "Bread")
        try await one.sync()
        await web.syncNow()
        for note in try await web.all(Note.self) { try await web.update(note.id) { $0.text.string += ", changed" } }
        await web.syncNow()
        try one.write("Bread.md", "Bread, written while the state was lost")
        let again = try await Machine(one.url, try await world.device(), false) { Date() }
        try await again.sync()
        #expect(
            again.contents == [
                "Soup.md": "Soup, changed", "Bread.md": "Bread, written while the state was lost",
                "Bread 2.md": "Bread, changed",
            ])
        #expect(try await again.store.count(Note.self) == 3)
    }

    @Test func pullOnlySendsNothing() async throws {
        let (one, web) = (try await world.machine(isPullOnly: true), try await world.device())
        try one.write("Mine.md", "Mine")
        let note = try await web.insert(Note(text: "Soup"))
        try await web.insert(Note(text: "Bread"))
        await web.syncNow()
        try await one.sync()
        #expect(Set(one.contents.keys) == ["Mine.md", "Soup.md", "Bread.md"])
        try one.write("Soup.md", "Soup, changed here")
        try one.remove("Bread.md")
        try await web.update(note.id) { $0.text = "Soup, changed there" }
        await web.syncNow()
        world.pass(400)
        try await one.sync()
        world.pass(400)
        let report = try await one.sync()
        #expect(one.read("Soup.md") == "Soup, changed here")
        #expect(report.skipped.map(\.path).sorted() == ["Mine.md", "Soup.md"] && report.waiting.isEmpty)
        await web.syncNow()
        #expect(try await web.all(Note.self).map(\.text.string).sorted() == ["Bread", "Soup, changed there"])
        #expect(try await web.all(Note.self).allSatisfy { $0.path == nil })
    }
}

extension URL {
    /// Makes the folder.
    fileprivate func making() throws -> URL {
        try FileManager.default.createDirectory(at: self, withIntermediateDirectories: true)
        return self
    }
}
