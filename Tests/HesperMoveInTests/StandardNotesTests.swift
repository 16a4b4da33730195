import Foundation
import HesperModel
import Testing

@testable import HesperMoveIn

/// docs/move-in.md, Standard Notes.
@Suite struct StandardNotesTests {
    private let source: TestSource

    init() throws { source = try TestSource() }

    private func backup(_ items: String...) throws {
        try source.write(
            #"{"version": "004", "items": [\#(items.joined(separator: ",\n"))]}"#,
            to: "Standard Notes Backup and Import File.txt")
    }

    private func note(_ id: String, _ content: String) -> String {
        #"{"uuid": "\#(id)", "content_type": "Note", "created_at": "2018-06-30T12:22:26.733Z", "updated_at": "2021-01-01T00:00:00Z", "content": \#(content)}"#
    }

    private func tag(_ id: String, _ title: String, notes: [String], parent: String? = nil) -> String {
        let notes = notes.map { #"{"uuid": "\#($0)", "content_type": "Note"}"# }
        let parents = parent.map { #"{"uuid": "\#($0)", "content_type": "Tag", "reference_type": "TagToParentTag"}"# }
        let references = (notes + [parents].compactMap(\.self)).joined(separator: ", ")
        return
            #"{"uuid": "\#(id)", "content_type": "Tag", "content": {"title": "\#(title)", "references": [\#(references)]}}"#
    }

    @Test(arguments: [false, true]) func notesAreRead(_ isZip: Bool) async throws {
        try backup(
            tag("t1", "work", notes: []),
            note(
                "n1",
                #"{"title": "Plan", "text": "Do it", "appData": {"org.standardnotes.sn": {"client_updated_at": "2020-02-03T04:05:06.000Z", "pinned": true}}}"#
            ),
            note(
                "n2",
                ##"{"title": "Plan 2", "text": "# Plan 2\n\nmore", "appData": {"org.standardnotes.sn": {"archived": true}}}"##
            ),
            note("n3", #"{"title": "gone", "text": "", "trashed": true}"#),
            note("n4", #""004:encrypted""#),
            tag("t2", "mail", notes: ["n1"], parent: "t1"), tag("t3", "home", notes: ["n1", "n2"]),
            tag("t4", "loop", notes: ["n2"], parent: "t4"),
            #"{"uuid": "x", "content_type": "SN|UserPreferences", "content": {}}"#)
        try source.write("Do it", to: "Items/Note/Plan.txt")
        let found = try await source.read(isZip ? try source.pack("zip", as: "backup.zip") : "")
        #expect(found.texts == ["# Plan\n\nDo it", "# Plan 2\n\nmore"])
        let plan = try found.note("Plan")
        #expect(plan.tags == ["work/mail", "home"])
        #expect(plan.isPinned && !plan.isArchived)
        #expect(plan.creation.description == "2018-06-30T12:22:26.733Z")
        #expect(plan.modification.description == "2020-02-03T04:05:06.000Z")
        #expect(found.notes[1].isArchived && !found.notes[1].isPinned)
        #expect(found.notes[1].tags.first == "home")
        #expect(found.trashed == 1)
        #expect(found.skipped.values.map(\.self) == ["It is encrypted. Export a decrypted backup."])
    }

    @Test func superNotesBecomeMarkdown() async throws {
        func node(_ type: String, _ more: String = "", _ children: String...) -> String {
            #"{"type": "\#(type)"\#(more), "children": [\#(children.joined(separator: ", "))]}"#
        }
        func text(_ text: String, _ format: Int = 0) -> String {
            #"{"type": "text", "text": "\#(text)", "format": \#(format)}"#
        }
        let root = node(
            "root", "", node("heading", #", "tag": "h2""#, text("Head")),
            node("paragraph", "", text("a "), text("bold ", 1), text("x", 16), #"{"type": "linebreak"}"#, text("b")),
            node(
                "list", #", "listType": "check""#, node("listitem", #", "checked": true"#, text("done")),
                node("listitem", "", node("list", #", "listType": "number""#, node("listitem", "", text("one"))))),
            node("quote", "", text("q")), node("code", #", "language": "js""#, text("let a")),
            #"{"type": "horizontalrule"}"#,
            node("paragraph", "", node("link", #", "url": "https://example.org""#, text("site"))))
        let escaped = #"{"root": \#(root)}"#.replacingOccurrences(of: "\\", with: "\\\\")
            .replacingOccurrences(of: "\"", with: "\\\"")
        try backup(note("n", #"{"title": "Rich", "noteType": "super", "text": "\#(escaped)"}"#))
        #expect(
            try await source.read().texts == [
                """
                # Rich

                ## Head

                a **bold** `x`
                b

                - [x] done
                    1. one

                > q

                ```js
                let a
                ```

                ---

                [site](https://example.org)
                """
            ])
    }
}
