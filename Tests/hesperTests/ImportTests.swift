import Foundation
import HesperModel
import HesperMoveIn
import HesperStore
import Testing

@testable import HesperImport
@testable import hesper

/// Imports of folders of text files.
@Suite struct ImportTests {
    private let folder = TemporaryFolder()
    private let spring = Date(timeIntervalSince1970: 1_557_126_489.5)

    private func text(_ text: String, _ name: String, changed date: Date? = nil) throws {
        try folder.write(text, to: name, changed: date)
    }

    private var source: String { folder.path + "/Notes" }

    @Test func textFilesBecomeNotes() async throws {
        let home = try await TestAccount()
        try text("# Paris\n\nThe tower\r\n", "Notes/paris.md", changed: spring)
        try text("plain", "Notes/Travel/2019/plain.TXT")
        let report = try await home.importFolder(source)
        #expect(report == ImportReport(new: 2, tags: 2))
        let notes = try await home.notes()
        #expect(notes.map(\.text) == ["# Paris\n\nThe tower\r\n", "plain"])
        #expect(notes[0].creationDate?.description == "2019-05-06T07:08:09.500Z")
        #expect(notes[0].sortDate == notes[0].creationDate)
        #expect(notes[0].archived == false)
        #expect(try await home.tagNames(of: notes[0]).isEmpty)
        #expect(try await home.tagNames(of: notes[1]) == ["Travel", "2019"])
        #expect(try await home.findings() == [])
    }

    @Test func foldersThatDifferInCaseAreOneTag() async throws {
        let home = try await TestAccount()
        let id = UniqueID.random()
        try await home.makeTag(id, "PARIS")
        try text("a", "Notes/Paris/a.md")
        try text("b", "Notes/Trips/paris/Paris/b.md")
        #expect(try await home.importFolder(source).tags == 1)
        #expect(try await home.tags().map(\.name) == ["PARIS", "Trips"])
        let notes = try await home.notes()
        #expect(notes[0].tags.raw == [id])
        #expect(try await home.tagNames(of: notes[1]) == ["PARIS", "Trips"])
    }

    // MARK: Repeated imports

    @Test func repeatedImportChangesNothing() async throws {
        let home = try await TestAccount()
        for index in 0..<1_203 { try text("note \(index)", "Notes/\(index % 7)/\(index).md") }
        #expect(try await home.importFolder(source) == ImportReport(new: 1_203, tags: 7))
        let head = try await home.head()
        #expect(try await home.importFolder(source) == ImportReport(unchanged: 1_203))
        #expect(try await home.importFolder(source + "/../Notes/") == ImportReport(unchanged: 1_203))
        #expect(try await home.head() == head)
        #expect(try await home.findings() == [])
    }

    /// merge.md, Cases, 32: on another device the folder has another path and its files other dates.
    @Test func sameFolderOnAnotherDeviceCreatesNoDuplicates() async throws {
        let home = try await TestAccount()
        let elsewhere = TemporaryFolder()
        for (parent, date) in [(folder, spring), (elsewhere, spring + 86_400)] {
            try parent.write("e", to: "Notes/Caf\u{e9}/e\u{301}.md", changed: date)
        }
        try await home.importFolder(source)
        let head = try await home.head()
        // Another file system uses another Unicode normalization.
        try FileManager.default.removeItem(atPath: elsewhere.path + "/Notes/Caf\u{e9}")
        try elsewhere.write("e", to: "Notes/Cafe\u{301}/\u{e9}.md", changed: spring + 86_400)
        #expect(try await home.importFolder(elsewhere.path + "/Notes") == ImportReport(unchanged: 1))
        #expect(try await home.head() == head)
    }

    @Test func folderWithAnotherNameCreatesNewNotes() async throws {
        let home = try await TestAccount()
        try text("read me", "Notes/README.md")
        try text("read me too", "Archive/README.md")
        try await home.importFolder(source)
        #expect(try await home.importFolder(folder.path + "/Archive") == ImportReport(new: 1))
        #expect(try await home.notes().map(\.text) == ["read me", "read me too"])
    }

    @Test func changesOfFileAndNoteAreMerged() async throws {
        let home = try await TestAccount()
        try text("one\n\ntwo\n\nthree\n", "Notes/a.md", changed: spring)
        try await home.importFolder(source)
        try await home.edit(try #require(try await home.notes().first), text: "ONE\n\ntwo\n\nthree\n")
        // The file was changed before the note and is imported after it.
        try text("one\n\ntwo\n\nTHREE\n", "Notes/a.md", changed: spring + 60)
        #expect(try await home.importFolder(source) == ImportReport(changed: 1))
        #expect(try await home.notes().map(\.text) == ["ONE\n\ntwo\n\nTHREE\n"])
        #expect(try await home.importFolder(source) == ImportReport(unchanged: 1))
        #expect(try await home.notes().map(\.text) == ["ONE\n\ntwo\n\nTHREE\n"])
        #expect(try await home.findings() == [])
    }

    @Test(arguments: [0.0, 60, 1e9])
    func laterNoteIsNotReplacedByItsFile(laterBy seconds: Double) async throws {
        let home = try await TestAccount()
        try text("draft", "Notes/a.md", changed: spring)
        try await home.importFolder(source)
        try await home.edit(try #require(try await home.notes().first), text: "finished")
        try text("draft", "Notes/a.md", changed: spring + seconds)
        try await home.importFolder(source)
        #expect(try await home.notes().map(\.text) == ["finished"])
    }

    @Test func deletedNotesAndRemovedTagsStayRemoved() async throws {
        let home = try await TestAccount()
        try text("a", "Notes/x/a.md")
        try text("b", "Notes/x/b.md")
        try text("c", "Notes/y/c.md")
        try await home.importFolder(source)
        let (notes, tags) = (try await home.notes(), try await home.tags())
        try await home.delete(notes[0].uniqueID, .note)
        try await home.remove(tags[0], from: notes[1])
        try await home.delete(tags[1].uniqueID, .tag)
        #expect(try await home.importFolder(source) == ImportReport(unchanged: 2, deleted: 1))
        let after = try await home.notes()
        #expect(after.map(\.text) == ["b", "c"])
        #expect(try await home.tagNames(of: after[0]).isEmpty)
        #expect(try await home.tags().map(\.name) == ["x"])
        // A deleted tag of a folder is created again, but only for new notes.
        try text("d", "Notes/y/d.md")
        #expect(try await home.importFolder(source) == ImportReport(new: 1, unchanged: 2, deleted: 1, tags: 1))
        let all = try await home.notes()
        #expect(try await home.tagNames(of: all[1]).isEmpty)
        #expect(try await home.tagNames(of: all[2]) == ["y"])
    }

    @Test func clockOfAFutureFileIsNotAhead() async throws {
        let home = try await TestAccount()
        try text("from tomorrow", "Notes/a.md", changed: Date() + 86_400)
        #expect(try await home.importFolder(source) == ImportReport(new: 1))
        #expect(try #require(try await home.notes()[0].textClock).timestamp <= .now)
    }

    /// The source has no newer date, so the text that is imported last is the newer one.
    @Test func textsOfOneDateReplaceOneAnother() async throws {
        let home = try await TestAccount()
        for text in ["one", "two", "three", "four"] {
            try self.text(text, "Notes/a.md", changed: spring)
            try await home.importFolder(source)
            #expect(try await home.notes().map(\.text) == [text])
        }
        #expect(try await home.importFolder(source) == ImportReport(unchanged: 1))
        #expect(try await home.findings() == [])
    }

    // MARK: Pictures

    @Test func picturesAreAttachments() async throws {
        let home = try await TestAccount()
        try text("# Rome\n\n![The villa](pics/villa.png) ![](pics/big.png)", "Notes/rome.md", changed: spring)
        try text("![](pics/villa.png)", "Notes/other.md", changed: spring)
        try text("villa", "Notes/pics/villa.png")
        try text(String(repeating: "x", count: 101), "Notes/pics/big.png")
        let first = try await home.importFolder(source, largest: 100)
        #expect((first.new, first.attachments, first.ignored) == (2, 2, 1))
        #expect(
            first.skipped == [.init(path: "rome.md, pics/big.png", reason: "It has 101 bytes. The maximum is 100.")])
        let notes = try await home.notes()
        let ids = notes.flatMap(\.attachments.raw)
        #expect(
            notes.map(\.text) == [
                "![](pics/villa.png)", "# Rome\n\n![The villa](pics/villa.png) ![](pics/big.png)",
            ])
        for id in ids { #expect(try await home.bytes(of: id) == Array("villa".utf8)) }
        let head = try await home.head()
        #expect(try await home.importFolder(source, largest: 100).unchanged == 2)
        #expect(try await home.head() == head)
        // With a larger maximum, the other picture arrives too.
        let second = try await home.importFolder(source)
        #expect((second.changed, second.unchanged, second.attachments, second.skipped) == (1, 1, 1, []))
        let after = try #require(try await home.notes().last)
        #expect(after.attachments.raw.count == 2)
        #expect(try await home.findings() == [])
    }

    @Test func removedPicturesStayRemoved() async throws {
        let home = try await TestAccount()
        try text("![](a.png) ![](b.png)", "Notes/rome.md", changed: spring)
        try text("a", "Notes/a.png")
        try text("b", "Notes/b.png")
        try await home.importFolder(source)
        let note = try #require(try await home.notes().first)
        let (one, two) = (note.attachments.raw[0], note.attachments.raw[1])
        try await home.remove(attachment: one, from: note)
        try await home.delete(two, .attachment)
        #expect(try await home.importFolder(source) == ImportReport(unchanged: 1))
        #expect(try await home.notes().first?.attachments.raw.contains(one) == false)
        try await home.delete(note.uniqueID, .note)
        #expect(try await home.importFolder(source) == ImportReport(deleted: 1))
        #expect(try await home.findings() == [])
    }

    // MARK: Skipped files

    @Test func invalidTextsAreSkipped() async throws {
        let home = try await TestAccount()
        try text("good", "Notes/a.md")
        try folder.write(Data([0x63, 0xff, 0x0a]), to: "Notes/binary.txt")
        try folder.write(Data([0xff, 0xfe, 0x61, 0x00]), to: "Notes/utf16.txt")
        try text("a\0b", "Notes/nul.md")
        try text(String(repeating: "a", count: Limits.textBytes), "Notes/full.md")
        try text(String(repeating: "é", count: Limits.textBytes / 2) + "é", "Notes/over.md")
        let report = try await home.importFolder(source)
        #expect(report.new == 2)
        #expect(
            report.skipped == [
                .init(path: "binary.txt", reason: "It is not valid UTF-8."),
                .init(path: "nul.md", reason: "The text must not contain the character U+0000."),
                .init(path: "over.md", reason: "It has 1048578 bytes. The maximum is 1048576."),
                .init(path: "utf16.txt", reason: "It is not valid UTF-8."),
            ])
    }

    @Test func byteOrderMarkIsRemoved() async throws {
        let home = try await TestAccount()
        try folder.write(Data([0xef, 0xbb, 0xbf, 0x61]), to: "Notes/a.txt")
        try await home.importFolder(source)
        #expect(try await home.notes().map { Array($0.text.utf8) } == [[0x61]])
    }

    @Test func hiddenFilesLinksAndOtherTypesAreIgnored() async throws {
        let home = try await TestAccount()
        try text("a", "Notes/a.markdown")
        try text("b", "Notes/.git/b.md")
        try text("c", "Notes/.c.md")
        try text("<p>d", "Notes/d.html")
        try text("f", "Notes/f.pdf")
        try text("", "Notes/empty.md")
        try text("e", "Notes/md")
        let links = FileManager.default
        try links.createSymbolicLink(atPath: source + "/circle", withDestinationPath: source)
        try links.createSymbolicLink(atPath: source + "/link.md", withDestinationPath: source + "/a.markdown")
        #expect(try await home.importFolder(source) == ImportReport(new: 2, ignored: 7))
        #expect(try await home.notes().map(\.text) == ["a", "d"])
    }

    @Test func missingFolderIsAUsageError() async throws {
        let home = try await TestAccount()
        let error = await #expect(throws: MoveInError.self) { try await home.importFolder(source) }
        #expect(error?.message == "\(source): No such file or directory.")
        #expect(error?.isUsage == true)
    }
}

/// The derived IDs must not change, because other versions and programs must find the same notes.
@Suite struct ImportedNoteTests {
    @Test(
        arguments: [
            ("Notes", "a.md", "70a55aa7-e612-5159-bd21-09c485c93337"),
            ("Notes", "Travel/Caf\u{e9}/paris.md", "0190356e-c742-51d2-b011-a940e64583ba"),
            ("Notes", "Travel/Cafe\u{301}/paris.md", "0190356e-c742-51d2-b011-a940e64583ba"),
        ])
    func idsAreDerivedFromThePath(folder: String, path: String, id: String) {
        #expect(ImportedNote.uniqueID(folder: folder, path: path).description == id)
    }
}
