import Foundation
import HesperModel
import Testing

@testable import HesperMoveIn

/// docs/move-in.md, Joplin.
@Suite struct JoplinTests {
    private let source: TestSource

    init() throws { source = try TestSource() }

    private func id(_ number: Int) -> String { String(repeating: "0", count: 31) + String(number, radix: 16) }

    private func item(_ number: Int, _ type: Int, _ text: String, _ properties: String...) throws {
        let lines = ["id: \(id(number))"] + properties + ["type_: \(type)"]
        try source.write((text.isEmpty ? "" : text + "\n\n") + lines.joined(separator: "\n"), to: "\(id(number)).md")
    }

    private func note(_ number: Int, _ text: String, _ properties: String...) throws {
        try item(
            number, 1, text,
            (properties + ["created_time: 2020-01-02T03:04:05.678Z", "updated_time: 2021-01-02T03:04:05.678Z"]).joined(
                separator: "\n"))
    }

    @Test(arguments: ["folder", "zip", "tar"]) func notesAreRead(_ form: String) async throws {
        try item(1, 2, "Work", "parent_id: ")
        try item(2, 2, "A/B", "parent_id: \(id(1))")
        try item(3, 5, "urgent")
        try item(4, 6, "", "note_id: \(id(5))", "tag_id: \(id(3))")
        try note(
            5,
            "Trip\n\nkey: value\n\n![Rome](:/\(id(7)) \"At noon\") [plan](:/\(id(8)))\n<img src=\":/\(id(7))\" width=\"30\"/>\n"
                + "[](:/\(id(6))#part) [x](:/\(id(15)))",
            "parent_id: \(id(2))", "user_created_time: 2019-01-02T03:04:05.678Z")
        try note(6, "Pay", "is_todo: 1", "todo_completed: 1600000000000", "parent_id: \(id(1))")
        try item(7, 4, "rome.png", "mime: image/png", "file_extension: png")
        try item(8, 4, "plan.pdf", "mime: application/pdf", "file_extension: pdf")
        try note(9, "secret", "encryption_applied: 1")
        try note(10, "thrown away", "deleted_time: 1600000000000")
        try item(11, 13, "a revision")
        try source.write("png", to: "resources/\(id(7)).png")
        try source.write("pdf", to: "resources/\(id(8)).pdf")
        let found =
            switch form {
            case "zip": try await source.read(try source.pack("zip", as: "raw.zip"))
            case "tar": try await source.read(try source.pack("tar", as: "all.jex"))
            default: try await source.read()
            }
        #expect(found.notes.count == 2)
        let trip = try found.note("Trip")
        #expect(
            trip.readable == """
                # Trip

                key: value

                ![Rome](attachment:rome.png "At noon") plan
                ![](attachment:rome.png)
                [[Pay]] [x](:/\(id(15)))
                """)
        #expect(trip.files == ["rome.png image/png 3", "plan.pdf application/pdf 3"])
        #expect(trip.tags == ["Work/A-B", "urgent"])
        #expect(trip.creation.description == "2019-01-02T03:04:05.678Z")
        #expect(trip.modification.description == "2021-01-02T03:04:05.678Z")
        #expect(trip.uniqueID == ImportedNote.uniqueID(app: "joplin", id: id(5)))
        #expect(try found.note("Pay").text == "- [x] Pay")
        #expect(found.trashed == 1)
        #expect(found.skipped.values.map { $0.hasPrefix("It is encrypted.") } == [true])
    }

    @Test(
        arguments: [
            ("id: 1\ntype_: 1", nil), ("Title\n\nbody", nil), ("", nil), ("no properties\n\n\n", nil),
            ("T\n\nid: 00000000000000000000000000000001\ntype_: 1", "T|"),
            ("T\n\na\n\nb: c\n\nid: 00000000000000000000000000000001\ntype_: 1\n", "T|a\n\nb: c"),
            ("T\r\n\r\na\r\n\r\nid: 00000000000000000000000000000001\r\ntype_: 1", "T|a"),
            ("T\n\na\n\nid: 00000000000000000000000000000001\ntype_: 99", nil),
        ] as [(String, String?)])
    func itemsAreParsed(_ text: String, _ expected: String?) {
        #expect(JoplinItem(text).map { "\($0.title)|\($0.body)" } == expected)
    }
}
