import Crypto
import Foundation
import HesperModel
import Testing

@testable import HesperMoveIn

/// docs/move-in.md, Evernote.
@Suite struct EvernoteTests {
    private let source: TestSource

    init() throws { source = try TestSource() }

    private static let picture = Data("picture".utf8)
    private static let hash = Insecure.MD5.hash(data: picture).map { String(format: "%02x", $0) }.joined()

    private static func note(_ title: String, _ content: String, _ more: String = "") -> String {
        """
        <note><title>\(title)</title><created>20190102T030405Z</created><updated>20200102T030405Z</updated>
        <content><![CDATA[<?xml version="1.0" encoding="UTF-8" standalone="no"?>
        <!DOCTYPE en-note SYSTEM "http://xml.evernote.com/pub/enml2.dtd"><en-note>\(content)</en-note>]]></content>\(more)</note>

        """
    }

    private static func resource(_ data: Data, _ name: String, _ type: String = "image/png") -> String {
        "<resource><data encoding=\"base64\">\n\(data.base64EncodedString(options: .lineLength64Characters))\n</data>"
            + "<mime>\(type)</mime><resource-attributes><file-name>\(name)</file-name></resource-attributes></resource>"
    }

    private func enex(_ notes: String..., to name: String = "My notebook.enex") throws {
        try source.write(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE en-export SYSTEM "http://xml.evernote.com/pub/evernote-export4.dtd">
            <en-export export-date="20260101T000000Z" application="Evernote" version="10.0">
            \(notes.joined())</en-export>
            """, to: name)
    }

    @Test(arguments: ["folder", "zip", "file"]) func notesAreRead(_ form: String) async throws {
        try enex(
            EvernoteTests.note(
                "Trip &amp; plan",
                "<div>See <a href=\"evernote:///view/1/s1/a/a/\">Other</a> and <a href=\"evernote:///view/1/s1/b/b/\">gone</a></div>"
                    + "<en-media hash=\"\(EvernoteTests.hash)\" type=\"image/png\"/><div><en-media hash=\"ffff\"/></div>",
                "<tag>travel</tag><tag>Rome</tag>" + EvernoteTests.resource(EvernoteTests.picture, "villa.png")
                    + EvernoteTests.resource(Data("pdf".utf8), "plan.pdf", "application/pdf")
                    + EvernoteTests.resource(Data(count: 1_001), "big.bin", "application/octet-stream")),
            EvernoteTests.note(
                "Other", "<div>Other</div><div style=\"--en-task-group:true;--en-id:g1;\"/>",
                "<task><title>second</title><taskStatus>open</taskStatus><taskGroupNoteLevelID>g1</taskGroupNoteLevelID><sortWeight>C</sortWeight></task>"
                    + "<task><title>first</title><taskStatus>completed</taskStatus><taskGroupNoteLevelID>g1</taskGroupNoteLevelID><sortWeight>B</sortWeight></task>"
            ),
            EvernoteTests.note("Dot", "<img src=\"data:image/png;base64,cGljdHVyZQ==\"/>"),
            EvernoteTests.note("Secret", "a<en-crypt cipher=\"AES\">AAAA</en-crypt>"))
        let found =
            switch form {
            case "zip": try await source.read(try source.pack("zip", as: "enex.zip"))
            case "file": try await source.read("My notebook.enex")
            default: try await source.read()
            }
        let trip = try found.note("Trip & plan")
        #expect(
            trip.readable
                == "# Trip & plan\n\nSee [[Other]] and [gone](evernote:///view/1/s1/b/b/)\n![](attachment:villa.png)")
        #expect(trip.files == ["villa.png image/png 7", "plan.pdf application/pdf 3"])
        #expect(trip.losses == [.init(part: "big.bin", reason: "It has 1001 bytes. The maximum is 1000.")])
        #expect(trip.tags == ["My notebook", "travel", "Rome"])
        #expect(trip.creation.description == "2019-01-02T03:04:05.000Z")
        #expect(trip.modification.description == "2020-01-02T03:04:05.000Z")
        #expect(try found.note("Other").text == "Other\n\n- [x] first\n- [ ] second")
        #expect(try found.note("Dot").readable == "# Dot\n\n![](attachment:picture.png)")
        let secret = try found.note("Secret")
        #expect(secret.text == "# Secret\n\na[encrypted text]")
        #expect(secret.losses.map(\.part) == ["encrypted text"])
        #expect(found.skipped.isEmpty)
    }

    @Test func notesOfOneTitleAndDateAreTwo() async throws {
        try enex(EvernoteTests.note("A", "one"), EvernoteTests.note("A", "two"))
        let found = try await source.read()
        #expect(Set(found.notes.map(\.uniqueID)).count == 2)
        #expect(try await source.read().notes.map(\.uniqueID) == found.notes.map(\.uniqueID))
    }

    // MARK: Invalid files

    @Test func aBrokenNoteIsSkipped() async throws {
        try enex(
            EvernoteTests.note("First", "1"), "<note><title>Broken</title><content>a & b</content></note>",
            EvernoteTests.note("Second", "2"), EvernoteTests.note("Deep", String(repeating: "<div>", count: 300)),
            EvernoteTests.note("Base64", "3", "<resource><data encoding=\"base64\">a!b</data></resource>"),
            EvernoteTests.note("Control \u{8}", "4"), "<note><title>Cut off</title>")
        let found = try await source.read()
        #expect(found.notes.map { NoteTitle.of($0.text) } == ["First", "Second", "Base64", "Control"])
        #expect(try found.note("Base64").losses == [.init(part: "a file", reason: "It is not valid Base64.")])
        let names = Set(found.skipped.keys.map { $0.replacingOccurrences(of: "My notebook.enex, ", with: "") })
        #expect(names == ["Broken", "Deep", "Cut off"])
        #expect(found.skipped["My notebook.enex, Deep"] == "Its elements are nested more than 256 levels deep.")
    }

    @Test func entitiesAreNotExpanded() async throws {
        var laughs = "<!ENTITY lol0 \"lol\">"
        for index in 1..<10 {
            laughs += "<!ENTITY lol\(index) \"\(String(repeating: "&lol\(index - 1);", count: 10))\">"
        }
        try source.write(
            "<!DOCTYPE en-export [\(laughs)<!ENTITY file SYSTEM \"file:///etc/passwd\">]><en-export>"
                + "<note><title>&lol9;</title><content>x</content></note><note><title>&file;</title><content>y</content></note>"
                + EvernoteTests.note("Good", "<div>&lol9; &file;</div>") + "</en-export>", to: "a.enex")
        let found = try await source.read()
        #expect(found.texts == ["# Good\n\n&lol9; &file;"])
        #expect(found.skipped["a.enex"] == "It declares entities, which are not allowed.")
        #expect(found.notes.allSatisfy { !$0.text.contains("root:") })
    }

    @Test(arguments: ["", "no XML", "<html>", "<en-export>", "<?xml version='1.0'?>\n<en-export></en-export>"])
    func filesBesideAFileWithoutNotesAreRead(_ text: String) async throws {
        try source.write("text", to: "other.txt")
        try source.write(text + " ", to: "a.enex")
        #expect(try await source.read().texts == ["text"])
    }

    // MARK: HTML

    @Test func htmlFilesAreNotes() async throws {
        try source.write("png", to: "img/a.png")
        try source.write(
            "<html><head><title>The  title</title></head><body><p>Text <img src=\"img/a.png\"> <a href=\"b.html\">b</a> "
                + "<a href='c.md'>c</a></p><img alt=dot src=\"data:image/png;base64,cGljdHVyZQ==\"></body></html>",
            to: "a.html")
        try source.write(
            Data("<meta charset=iso-8859-1><h1>Caf".utf8) + Data([0xe9]) + Data("</h1>".utf8), to: "b.html")
        try source.write("# See\n[a](a.html)", to: "c.md")
        let found = try await source.read()
        #expect(
            try found.note("The title").readable
                == "# The title\n\nText ![](attachment:a.png) [[Café|b]] [[See|c]]\n\n![dot](attachment:picture.png)")
        #expect(try found.note("Café").text == "# Café")
        #expect(try found.note("See").text == "# See\n[a](a.html)")
        #expect(found.ignored == 0)
    }

    /// The process of the parser ends after the first file, while it writes a record of the second one.
    private final class FailingParser: MarkupRunner {
        func run(_ task: MarkupTask, to output: FileHandle) throws -> String? {
            guard task.start == 0 else { return try ParserInThisProcess().run(task, to: output) }
            let note = MarkupRecord.Note(source: 0, text: "first")
            for record in [MarkupRecord.note(note), .end(source: 0)] {
                try output.write(contentsOf: JSONEncoder().encode(record) + Data("\n".utf8))
            }
            try output.write(contentsOf: Data(#"{"note":{"#.utf8))
            return "It was killed."
        }
    }

    @Test func afterAFailureOfTheParserTheNextFileIsRead() async throws {
        for name in ["a.html", "b.html", "c.html"] { try source.write("<p>\(name)", to: name) }
        let found = try await TestEntries(of: source.path, 1, FailingParser())
        #expect(found.texts == ["first", "c.html"])
        #expect(found.skipped == ["b.html": "It was killed."])
    }
}
