import HesperModel
import Testing

@testable import HesperMirror

/// The links of texts, and the files to which they lead.
struct LinkedFilesTests {
    static let files = [
        "a.png", "two words.png", "100%.png", "pics/a.png", "pics/b.png", "pics/deep/c.png", "c#1.pdf", "d.pdf",
        "e(1).png", "x:y.png",
        "é.png", "only.gif",
    ]

    struct Row: CustomTestStringConvertible {
        var testDescription: String
        var note = "Note.md"
        var text: String
        var paths: [String] = []
    }

    static let rows = [
        Row(testDescription: "no link", text: "a.png [a.png] (a.png)"),
        Row(testDescription: "a picture", text: "![](a.png)", paths: ["a.png"]),
        Row(testDescription: "a link", text: "see [the file](d.pdf).", paths: ["d.pdf"]),
        Row(
            testDescription: "several, each once", text: "![x](a.png)![y](d.pdf) ![](a.png)", paths: ["a.png", "d.pdf"]),
        Row(testDescription: "a picture in a link", text: "[![](a.png)](d.pdf)", paths: ["a.png", "d.pdf"]),
        Row(testDescription: "relative to the note", note: "pics/Note.md", text: "![](a.png)", paths: ["pics/a.png"]),
        Row(testDescription: "else relative to the folder", note: "pics/Note.md", text: "![](d.pdf)", paths: ["d.pdf"]),
        Row(
            testDescription: "a path from the folder", note: "b/Note.md", text: "![](pics/a.png)", paths: ["pics/a.png"]
        ),
        Row(testDescription: "up", note: "pics/deep/Note.md", text: "![](../b.png)", paths: ["pics/b.png"]),
        Row(testDescription: "here", text: "![](./pics/./a.png)", paths: ["pics/a.png"]),
        Row(
            testDescription: "out of the folder", note: "pics/Note.md",
            text: "![](../../a.png) ![](../Notes/../../a.png)"),
        Row(testDescription: "hidden", text: "![](.git/a.png) ![](pics/.a.png)"),
        Row(testDescription: "absolute", text: "![](/a.png) ![](//a.png)"),
        Row(
            testDescription: "addresses", text: "![](https://example.org/a.png) [x](mailto:a.png) ![](attachment:a.png)"
        ),
        Row(testDescription: "a colon in a name", text: "![](./x:y.png)", paths: ["x:y.png"]),
        Row(testDescription: "percent-encoded", text: "![](two%20words.png)", paths: ["two words.png"]),
        Row(testDescription: "a percent sign", text: "![](100%.png) ", paths: ["100%.png"]),
        Row(testDescription: "a percent sign, encoded", text: "![](100%25.png)", paths: ["100%.png"]),
        Row(testDescription: "in angle brackets", text: "![](<two words.png>)", paths: ["two words.png"]),
        Row(testDescription: "not closed", text: "![](<two words.png) ![](a.png"),
        Row(testDescription: "a space", text: "![](two words.png)"),
        Row(
            testDescription: "titles", text: "![](a.png \"A\") [d](d.pdf 'a)') ![](pics/b.png\n  (b))",
            paths: ["a.png", "d.pdf", "pics/b.png"]),
        Row(testDescription: "something else after the target", text: "![](a.png x)"),
        Row(testDescription: "parentheses", text: "![](e(1).png) ![](e\\(1\\).png)", paths: ["e(1).png"]),
        Row(
            testDescription: "a fragment", text: "[p. 2](d.pdf#page=2) [x](c%231.pdf) ![](a.png?raw)",
            paths: ["d.pdf", "c#1.pdf", "a.png"]),
        Row(testDescription: "a fragment that is part of the name", text: "[x](c#1.pdf)", paths: ["c#1.pdf"]),
        Row(testDescription: "another normal form", text: "![](e\u{301}.png)", paths: ["é.png"]),
        Row(testDescription: "escaped", text: "!\\[](a.png) \\[x](d.pdf)"),
        Row(testDescription: "inline code", text: "`![](a.png)` ``a ` ![](a.png)`` ` ![](d.pdf)", paths: ["d.pdf"]),
        Row(testDescription: "inline code ends with the paragraph", text: "a ` b\n\n![](a.png) ` c", paths: ["a.png"]),
        Row(testDescription: "a block of code", text: "```\n![](a.png)\n~~~\n````\n![](d.pdf)\n", paths: ["d.pdf"]),
        Row(
            testDescription: "a block of code in a list", text: "- x\n  ~~~ md\n  ![](a.png)\n  ~~~\n  ![](d.pdf)\n",
            paths: ["d.pdf"]),
        Row(
            testDescription: "a block of code without an end", text: "![](d.pdf)\n\n```\n![](a.png)\n", paths: ["d.pdf"]
        ),
        Row(
            testDescription: "a block of code after text", text: "text ![](d.pdf)\n```\n![](a.png)\n```",
            paths: ["d.pdf"]),
        Row(testDescription: "CR LF", text: "```\r\n![](a.png)\r\n```\r\n\r\n![](d.pdf)\r\n", paths: ["d.pdf"]),
        Row(testDescription: "double brackets: a path", text: "![[pics/a.png]]", paths: ["pics/a.png"]),
        Row(
            testDescription: "double brackets: the only file with the name", text: "![[b.png]] [[only.gif]]",
            paths: ["pics/b.png", "only.gif"]),
        Row(
            testDescription: "double brackets: near the note", note: "pics/Note.md", text: "![[a.png]]",
            paths: ["pics/a.png"]),
        Row(testDescription: "double brackets: in the folder", note: "x/Note.md", text: "![[a.png]]", paths: ["a.png"]),
        Row(
            testDescription: "double brackets: size, heading, spaces",
            text: "![[a.png|100]] ![[d.pdf#page=2]] ![[ two words.png ]]", paths: ["a.png", "d.pdf", "two words.png"]),
        Row(testDescription: "double brackets: in a table", text: "| ![[a.png\\|100]] |", paths: ["a.png"]),
        Row(testDescription: "double brackets: a note", text: "[[Soup]] ![[Soup.md]] [[]]"),
        Row(testDescription: "double brackets: in code", text: "`![[a.png]]`"),
        Row(testDescription: "not closed brackets", text: "[[a.png] ![[a.png\n]] [[[ ![](d.pdf)", paths: ["d.pdf"]),
    ]

    @Test(arguments: rows) func linksLeadToFiles(_ row: Row) {
        let linked = LinkedFiles(LinkedFilesTests.files)
        #expect(FileLink.all(in: row.text).compactMap { linked.path(of: $0, in: row.note) }.uniqued() == row.paths)
    }

    @Test func aNameThatTwoFilesHaveIsNoTarget() {
        let linked = LinkedFiles(["x/a.png", "y/a.png"])
        #expect(linked.path(of: FileLink(["a.png"], isWiki: true), in: "Note.md") == nil)
        #expect(linked.path(of: FileLink(["a.png"], isWiki: true), in: "y/Note.md") == "y/a.png")
    }
}

extension [String] {
    fileprivate func uniqued() -> [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
