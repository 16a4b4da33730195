import Foundation
import HesperModel
import Testing

@testable import HesperMoveIn

/// docs/move-in.md, Simplenote.
@Suite struct SimplenoteTests {
    private let source: TestSource

    init() throws { source = try TestSource() }

    private static let notes = """
        {
          "activeNotes": [
            {"id": "a1", "content": "Shopping\\r\\nMilk", "creationDate": "2014-02-03T04:05:06.789Z",
             "lastModified": "2015-02-03T04:05:06.789Z", "tags": ["home", "Food", "HOME"], "pinned": true, "markdown": true},
            {"id": "b2", "content": "Other\\n[see](simplenote://note/a1) [gone](simplenote://note/zz)",
             "creationDate": "2014-02-03T04:05:06.789Z", "lastModified": "2014-02-03T04:05:06.789Z"},
            {"content": "without an ID", "creationDate": "2013-01-01T00:00:00Z", "lastModified": "2013-01-01T00:00:00Z"},
            {"id": "c3", "creationDate": "2014-02-03T04:05:06.789Z"},
            {"id": "d4", "content": "\\ud800", "creationDate": "2014-02-03T04:05:06.789Z"},
            {"id": "e5", "content": "a\\u0000b", "creationDate": "2014-02-03T04:05:06.789Z"}
          ],
          "trashedNotes": [{"id": "t1", "content": "thrown away"}]
        }
        """

    @Test(arguments: ["folder", "zip", "file"]) func notesAreRead(_ form: String) async throws {
        try source.write(SimplenoteTests.notes, to: "source/notes.json")
        try source.write("Shopping\r\nMilk\n\nTags:\n  home", to: "Shopping.txt")
        let found =
            switch form {
            case "zip": try await source.read(try source.pack("zip", as: "notes.zip"))
            case "file": try await source.read("source/notes.json")
            default: try await source.read()
            }
        #expect(found.notes.count == 3)
        let shopping = try found.note("Shopping")
        #expect(shopping.text == "Shopping\nMilk")
        #expect(shopping.tags == ["home", "Food"])
        #expect(shopping.creation.description == "2014-02-03T04:05:06.789Z")
        #expect(shopping.modification.description == "2015-02-03T04:05:06.789Z")
        #expect(shopping.clock.timestamp == shopping.modification)
        #expect(shopping.isPinned && !shopping.isArchived)
        #expect(shopping.uniqueID == ImportedNote.uniqueID(app: "simplenote", id: "a1"))
        #expect(try found.note("Other").text == "Other\n[[Shopping|see]] [gone](simplenote://note/zz)")
        #expect(found.trashed == 1)
        #expect(Set(found.skipped.keys.compactMap(\.last)) == ["4", "5", "6"])
        #expect(found.skipped.values.contains("The text must not contain the character U+0000."))
    }

    @Test func aNoteThatIsTooLargeIsSkipped() async throws {
        let large = String(repeating: "a", count: 1_100_000)
        try source.write(
            #"{"activeNotes": [{"id": "1", "content": "\#(large)"}, {"id": "2", "content": "small"}], "trashedNotes": []}"#,
            to: "notes.json")
        let found = try await source.read()
        #expect(found.texts == ["small"])
        #expect(found.skipped.values.map(\.self) == ["It has 1100000 bytes. The maximum is 1048576."])
    }

    @Test func whatPrecedesTheEndOfABrokenFileIsRead() async throws {
        try source.write(#"{"activeNotes": [{"id": "1", "content": "first"}, {"id": "2", "con"#, to: "notes.json")
        let found = try await source.read()
        #expect(found.texts == ["first"])
        #expect(Set(found.skipped.keys) == ["notes.json", "notes.json, note 2"])
    }
}
