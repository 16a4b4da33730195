import Foundation
import HesperModel
import Testing

@testable import HesperMoveIn

/// docs/move-in.md, Google Keep.
@Suite struct KeepTests {
    private let source: TestSource

    init() throws { source = try TestSource() }

    private func note(_ name: String, _ members: String) throws {
        let dates =
            #""userEditedTimestampUsec": 1763069966429000, "createdTimestampUsec": 17630699\#(name.utf8.count)0000000"#
        let flags = ["isTrashed", "isPinned", "isArchived"].filter { !members.contains($0) }.map {
            "\"\($0)\": false, "
        }
        try source.write("{\(flags.joined())\(dates), \(members)}", to: "Takeout/Keep/\(name).json")
    }

    @Test(arguments: [false, true]) func notesAreRead(_ isZip: Bool) async throws {
        try note("1", #""title": "Text", "textContent": "line\nline", "isPinned": true, "labels": [{"name": "Work"}]"#)
        try note(
            "12",
            #""title": "", "listContent": [{"text": "milk", "isChecked": true}, {"text": "bread", "isChecked": false}], "isArchived": true"#
        )
        try note(
            "123",
            #""title": "Pictures", "textContent": "", "attachments": [{"filePath": "a.jpeg", "mimetype": "image/jpeg"}, {"filePath": "b.3gp", "mimetype": "audio/3gp"}, {"filePath": "c.png", "mimetype": "image/png"}, {"filePath": "big.png", "mimetype": "image/png"}]"#
        )
        try note("1234", #""title": "gone", "isTrashed": true, "textContent": "x""#)
        try note(
            "12345",
            #""title": "", "textContent": "Page", "annotations": [{"source": "WEBLINK", "title": "Example", "url": "https://example.org"}]"#
        )
        try note("1234567", #""title": "", "attachments": [{"filePath": "b.3gp", "mimetype": "audio/3gp"}]"#)
        try note("123456", #""title": "", "textContent": """#)
        try source.write("not JSON", to: "Takeout/Keep/broken.json")
        try source.write("jpg", to: "Takeout/Keep/a.jpg")
        try source.write("3gp", to: "Takeout/Keep/b.3gp")
        try source.write(String(repeating: "x", count: 1_001), to: "Takeout/Keep/big.png")
        try source.write("<html>", to: "Takeout/Keep/1.html")
        try source.write("Work", to: "Takeout/Keep/Labels.txt")
        let found = try await source.read(isZip ? try source.pack("zip", as: "takeout.zip") : "")
        let text = try found.note("Text")
        #expect(text.text == "# Text\n\nline\nline")
        #expect(text.tags == ["Work"])
        #expect(text.isPinned && !text.isArchived)
        #expect(text.modification.description == "2025-11-13T21:39:26.429Z")
        let list = try found.note("milk")
        #expect(list.text == "- [x] milk\n- [ ] bread")
        #expect(list.isArchived)
        let pictures = try found.note("Pictures")
        #expect(pictures.readable == "# Pictures\n\n![](attachment:a.jpg)")
        #expect(pictures.files == ["a.jpg image/jpeg 3", "b.3gp audio/3gp 3"])
        #expect(
            pictures.losses == [
                .init(part: "c.png", reason: "The export does not contain it."),
                .init(part: "big.png", reason: "It has 1001 bytes. The maximum is 1000."),
            ])
        #expect(try found.note("Page").text == "Page\n\n[Example](https://example.org)")
        #expect(try found.note("b.3gp").attachments.count == 1)
        #expect(found.notes.count == 5)
        #expect(found.trashed == 1)
        #expect(found.skipped.keys.map { $0.hasSuffix("broken.json") } == [true])
        // The empty note, the HTML, the labels and the picture that is too large.
        #expect(found.ignored == 4)
    }

    @Test func twoNotesOfOneMomentAreTwoNotes() async throws {
        try note("1", #""title": "One", "textContent": """#)
        try note("2", #""title": "Two", "textContent": """#)
        let found = try await source.read()
        #expect(found.notes.count == 2)
        #expect(Set(found.notes.map(\.uniqueID)).count == 2)
        #expect(try await source.read().notes.map(\.uniqueID) == found.notes.map(\.uniqueID))
    }
}
