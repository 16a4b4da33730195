import Foundation
import HesperModel
import Testing

@testable import HesperMoveIn

/// docs/move-in.md, Obsidian and Folders of Markdown and HTML.
@Suite struct MarkdownFolderTests {
    private let source: TestSource

    init() throws { source = try TestSource() }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var note = "Note.md"
        let text: String
        let result: String
    }

    /// The files of the folder are in `links`.
    static let rows = [
        Row(testDescription: "no link", text: "a [b] (c.png)", result: "a [b] (c.png)"),
        Row(testDescription: "a picture", text: "x ![Rome](pics/a.png) y", result: "x ![Rome](attachment:a.png) y"),
        Row(
            testDescription: "a picture with a title", text: "![](pics/a.png \"At noon\")",
            result: "![](attachment:a.png \"At noon\")"),
        Row(
            testDescription: "a path in angle brackets, another with percent-encoding",
            text: "![](<two words.png>) ![](two%20words.png)",
            result: "![](attachment:two words.png) ![](attachment:two words.png)"),
        Row(testDescription: "a picture as a link", text: "[see](pics/a.png)", result: "![see](attachment:a.png)"),
        Row(
            testDescription: "a picture in a link to the web", text: "[![a](pics/a.png)](https://example.org)",
            result: "[![a](attachment:a.png)](https://example.org)"),
        Row(
            testDescription: "HTML", text: "<img alt='R' src=\"pics/a.png\" width=300>",
            result: "![R](attachment:a.png)"),
        Row(testDescription: "an embedded picture", text: "![[a.png]]", result: "![](attachment:a.png)"),
        Row(
            testDescription: "with a size, and with a text", text: "![[a.png|300]] ![[a.png|30x40]] ![[a.png|Rome]]",
            result: "![](attachment:a.png) ![](attachment:a.png) ![Rome](attachment:a.png)"),
        Row(
            testDescription: "a size in Markdown", text: "![Rome|300](pics/a.png)", result: "![Rome](attachment:a.png)"),
        Row(
            testDescription: "an alternative text with brackets", text: "![a \\[b\\]](pics/a.png)",
            result: "![a \\[b\\]](attachment:a.png)"),
        Row(
            testDescription: "another file", text: "[the plan](d.pdf) [[d.pdf]] ![[d.pdf]]",
            result: "the plan d.pdf d.pdf"),
        Row(
            testDescription: "a path from the note, above it, and from the folder", note: "deep/Note.md",
            text: "![](../pics/a.png) ![](pics/a.png) ![](./e.png)",
            result: "![](attachment:a.png) ![](attachment:a.png) ![](attachment:e.png)"),
        Row(
            testDescription: "out of the folder", text: "![](../../etc/passwd) ![](/etc/passwd)",
            result: "![](../../etc/passwd) ![](/etc/passwd)"),
        Row(
            testDescription: "code", text: "`![](pics/a.png)`\n\n```\n[[Other]]\n```",
            result: "`![](pics/a.png)`\n\n```\n[[Other]]\n```"),
        Row(
            testDescription: "a note", text: "[[other]] [[Other|it]] ![[Other]]",
            result: "[[The other|other]] [[The other|it]] [[The other|Other]]"),
        Row(
            testDescription: "a heading", text: "[[Other#Part]] [[Other#Part|p]]",
            result: "[[The other#Part|Other]] [[The other#Part|p]]"),
        Row(
            testDescription: "a note by its path", text: "[o](Other.md) [The other](./Other.md#part)",
            result: "[[The other|o]] [[The other]]"),
        Row(testDescription: "an alias", text: "[[another name]]", result: "[[The other|another name]]"),
        Row(testDescription: "a title that a link cannot have", text: "[[Hash]] [h](Hash.md)", result: "[[Hash]] h"),
        Row(
            testDescription: "no such file", text: "[[missing]] ![](missing.png)",
            result: "[[missing]] ![](missing.png)"),
        Row(
            testDescription: "a link to the web", text: "[a](https://x.org/pics/a.png)",
            result: "[a](https://x.org/pics/a.png)"),
        Row(
            testDescription: "in front matter", text: "---\nup: \"[[Other]]\"\n---\n[[Other]]",
            result: "---\nup: \"[[Other]]\"\n---\n[[The other|Other]]"),
    ]

    @Test(arguments: rows) func linksAreRewritten(_ row: Row) async throws {
        try source.write("png", to: "pics/a.png")
        try source.write("two", to: "two words.png")
        try source.write("pdf", to: "d.pdf")
        try source.write("e", to: "deep/e.png")
        try source.write("---\naliases: [another name]\n---\n# The other\n", to: "Other.md")
        try source.write("# a [b] | c", to: "Hash.md")
        try source.write(row.text, to: row.note)
        let found = try await source.read(try source.pack("zip", as: "links.zip"))
        #expect(try #require(found.notes.first { $0.path == row.note }).readable == row.result)
    }

    @Test func frontMatterHasTagsAndDates() async throws {
        try source.write(
            "---\ntitle: T\ntags:\n  - a\n  - '#b/c'\ncreated: 2020-01-02\nupdated: 2021-02-03 04:05\n---\nbody\n",
            to: "folder/n.md")
        let found = try await source.read()
        let note = try #require(found.notes.first)
        #expect(
            note.text
                == "---\ntitle: T\ntags:\n  - a\n  - '#b/c'\ncreated: 2020-01-02\nupdated: 2021-02-03 04:05\n---\nbody\n"
        )
        #expect(note.tags == ["folder", "a", "b/c"])
        #expect(note.creation.description == "2020-01-02T00:00:00.000Z")
        #expect(note.modification.description == "2021-02-03T04:05:00.000Z")
    }

    /// In a vault, the name of the file is the title.
    @Test(arguments: [false, true]) func aVaultHasTitlesAndTagsInTexts(_ isZip: Bool) async throws {
        try source.write("{}", to: ".obsidian/app.json")
        try source.write("text #home/garden, `#no` #12 # x\n```\n#code\n```\nsee [[Day]]", to: "Plan.md")
        try source.write("# Day\nwords", to: "Day.md")
        try source.write("---\ntags: x\n---\nwords", to: "Front.md")
        try source.write("---\ntitle: Other\n---\nwords", to: "Titled.md")
        let found = try await source.read(isZip ? try source.pack("zip", as: "vault.zip") : "")
        #expect(
            Set(found.texts) == [
                "# Plan\n\ntext #home/garden, `#no` #12 # x\n```\n#code\n```\nsee [[Day]]", "# Day\nwords",
                "---\ntags: x\n---\n# Front\n\nwords", "---\ntitle: Other\n---\nwords",
            ])
        #expect(try found.note("Plan").tags == ["home/garden"])
    }

    @Test func aFileOfSeveralNotesIsCopiedForEach() async throws {
        try source.write("png", to: "_resources/a.png")
        try source.write("unused", to: "_resources/b.png")
        try source.write("![](_resources/a.png)", to: "One.md")
        try source.write("![](_resources/a.png) ![](_resources/a.png)", to: "Two.md")
        let found = try await source.read()
        #expect(found.notes.map(\.files) == [["_resources/a.png image/png 3"], ["_resources/a.png image/png 3"]])
        #expect(found.notes[0].attachments[0].uniqueID != found.notes[1].attachments[0].uniqueID)
        #expect(found.ignored == 1)
        // The texts of a plain folder stay as they are.
        #expect(found.texts[0] == "![](_resources/a.png)")
        // Another file at the same path is another attachment.
        try source.write("new", to: "_resources/a.png")
        let again = try await source.read()
        #expect(again.notes[0].uniqueID == found.notes[0].uniqueID)
        #expect(again.notes[0].attachments[0].uniqueID != found.notes[0].attachments[0].uniqueID)
    }

    @Test func largeFilesAreReportedAndLinksToThemStay() async throws {
        try source.write(String(repeating: "x", count: 1_001), to: "big.png")
        try source.write("![](big.png)", to: "Note.md")
        let found = try await source.read()
        #expect(found.texts == ["![](big.png)"])
        #expect(found.notes[0].losses == [.init(part: "big.png", reason: "It has 1001 bytes. The maximum is 1000.")])
    }

    // MARK: Archives

    private func zip(_ script: String) throws -> String {
        let path = source.path + "/made.zip"
        let program = """
            import sys, zipfile
            with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as z:
            \(script.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n"))
            """
        let python = Process()
        python.executableURL = URL(filePath: "/usr/bin/python3")
        python.arguments = ["-c", program, path]
        try python.run()
        python.waitUntilExit()
        #expect(python.terminationStatus == 0)
        return path
    }

    @Test func aDamagedFileIsSkippedAndTheOthersAreRead() async throws {
        let path = try zip(
            "z.writestr('a.md', 'a' * 1000)\nz.writestr(zipfile.ZipInfo('b.md'), 'marker in the second file')\nz.writestr('c.md', 'c')"
        )
        var bytes = try Data(contentsOf: URL(filePath: path))
        let marker = try #require(bytes.firstRange(of: Data("marker".utf8)))
        bytes[marker.lowerBound] ^= 1
        try bytes.write(to: URL(filePath: path))
        let found = try await source.read("made.zip")
        #expect(found.texts == [String(repeating: "a", count: 1_000), "c"])
        #expect(found.skipped == ["b.md": "It is damaged."])
    }

    @Test func archivesInArchivesAreNotUnpacked() async throws {
        let path = try zip(
            "import io\ninner = io.BytesIO()\nwith zipfile.ZipFile(inner, 'w') as y: y.writestr('in.md', 'inner')\n"
                + "z.writestr('inner.zip', inner.getvalue())\nz.writestr('a.md', 'see [it](inner.zip)')")
        let found = try await source.read(path)
        #expect(found.texts == ["see it"])
        #expect(found.notes[0].attachments.map(\.filename) == ["inner.zip"])
    }

    @Test func temporaryFilesAreRemoved() throws {
        var staging: Staging? = try Staging(SourceLimits(attachmentBytes: 0))
        let folder = try #require(staging?.folder)
        var file = try StagedFile(in: try #require(staging))
        try Array("text".utf8).withUnsafeBytes { try file.append($0) }
        #expect(FileManager.default.fileExists(atPath: file.path))
        staging = nil
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test func otherFilesAreRefused() async throws {
        let path = try source.write("text", to: "a.pdf")
        await #expect(throws: MoveInError.self) { try await source.read("a.pdf") }
        await #expect(throws: MoveInError("\(path)x: No such file or directory.", isUsage: true)) {
            try await source.read("a.pdfx")
        }
    }
}

/// Dates as they are written in front matter.
@Suite struct LooseDateTests {
    @Test(
        arguments: [
            ("2026-11-21", "2026-11-21T00:00:00.000Z"), ("2026-11-21 08:47", "2026-11-21T08:47:00.000Z"),
            ("2026-11-21 08:47Z", "2026-11-21T08:47:00.000Z"), ("2026-11-21T08:47:12", "2026-11-21T08:47:12.000Z"),
            (" 2026-11-21 08:47:12.5+01:00 ", "2026-11-21T07:47:12.500Z"), ("2026-13-01", nil), ("today", nil),
            ("", nil),
            ("2026-11-21T", nil),
        ] as [(String, String?)])
    func datesAreRead(_ text: String, _ date: String?) { #expect(Timestamp.loose(text)?.description == date) }
}

/// Titles of notes, as the web app shows them.
@Suite struct NoteTitleTests {
    @Test(
        arguments: [
            ("", ""), ("\n  \n# Head *line*\nx", "Head line"), ("- [x] done", "done"), ("> quoted", "quoted"),
            ("---\ntitle: 'Front'\n---\nx", "Front"), ("---\na: b\n---\nx", "x"), ("***\nx", "x"),
            ("![Rome](attachment:c9a646d3-9c61-4cb7-bfcd-ee2522c8f633) trip", "Rome trip"),
            ("[a](https://x.org) [[b]] `c` **d** __e__ ~~f~~", "a b c d e f"), ("#hash", "#hash"),
            ("2 * 3 = 6", "2 * 3 = 6"),
            (#"a \* b\_c"#, "a * b_c"), ("```swift\nlet a", "let a"),
        ])
    func theTitleIsTheFirstLineWithWords(_ text: String, _ title: String) { #expect(NoteTitle.of(text) == title) }

    @Test(
        arguments: [
            ("", "body", "body"), ("T", "", "# T"), ("T", "body", "# T\n\nbody"), ("T", "# T\n\nbody", "# T\n\nbody"),
            ("T", "T\nbody", "T\nbody"), ("a\nb", "body", "# a b\n\nbody"), ("T", "\n\nbody", "# T\n\nbody"),
        ])
    func aTitleBecomesTheFirstLineIfNeeded(_ title: String, _ body: String, _ text: String) {
        #expect(NoteTitle.text(title: title, body: body) == text)
    }
}
