import Foundation
import Testing

@testable import HesperMoveIn

/// The conversion of HTML and ENML to Markdown.
@Suite struct MarkdownConverterTests {
    static func convert(
        _ html: String, tasks: [String: [String]] = [:], piece: Int = 7
    ) -> (text: String, problem: String?) {
        let converter = MarkdownConverter(tasks: tasks)
        let parser = MarkupParser(.html(isUTF8: true), converter)
        // The document arrives in small pieces.
        let bytes = Array(html.utf8)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            bytes[start..<min(start + piece, bytes.count)].withUnsafeBytes { parser.parse($0) }
        }
        parser.finish()
        return (converter.finish(), parser.problem)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let html: String
        let markdown: String

        init(_ name: String, _ html: String, _ markdown: String) {
            (testDescription, self.html, self.markdown) = (name, html, markdown)
        }
    }

    static let rows = [
        Row("paragraphs", "<p>one</p><p>two\n  lines</p>", "one\n\ntwo lines"),
        Row(
            "lines of ENML", "<en-note><div>one</div><div>two</div><div><br/></div><div>three</div></en-note>",
            "one\ntwo\n\nthree"),
        Row("line breaks", "a<br>b<br/>c", "a\nb\nc"),
        Row("headings", "<h1>A <b>b</b></h1><h3>c</h3>text", "# A b\n\n### c\n\ntext"),
        Row(
            "styles", "<b>b</b> <i>i</i> <strong><em>both</em></strong> <s>s</s> <code>c`d</code>",
            "**b** *i* ***both*** ~~s~~ ``c`d``"),
        Row(
            "styles in CSS",
            "<span style='font-weight: bold'>b</span><span style='text-decoration:line-through'> s</span>",
            "**b** ~~s~~"),
        Row(
            "links",
            "<a href='https://x.org/a b'>x</a> <a href='https://x.org'>https://x.org</a> <a href='javascript:x'>no</a>",
            "[x](https://x.org/a%20b) https://x.org no"),
        Row("entities", "&lt;b&gt; &amp; &eacute;&nbsp;&#8364;", "\\<b> & é €"),
        Row("a list", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul><p>d", "- a\n- b\n  - c\n\nd"),
        Row("a list after text", "text<ol start=3><li><div>a</div></li><li><p>b</p></li></ol>", "text\n\n3. a\n4. b"),
        Row("a nested list that is not in an item", "<ul><li>a</li><ul><li>b</li></ul></ul>", "- a\n- b"),
        Row("check boxes", "<div><en-todo checked='true'/>a</div><div><en-todo/>b</div>", "- [x] a\n- [ ] b"),
        Row(
            "a checklist",
            "<ul style='--en-todo:true;'><li style='--en-checked:true;'><div>a</div></li><li style='--en-checked:false;'>b</li></ul>",
            "- [x] a\n- [ ] b"),
        Row("a check box in a list", "<ol><li><input type=checkbox checked>a</li></ol>", "1. [x] a"),
        Row("a quotation", "<blockquote><p>a</p><p>b</p></blockquote>c", "> a\n>\n> b\n\nc"),
        Row(
            "code", "<pre><code class='language-js'>let a\n  b &lt; c\n</code></pre>x",
            "```js\nlet a\n  b < c\n```\n\nx"),
        Row(
            "code of Evernote",
            "<div style='--en-codeblock:true;box-sizing: border-box'><div>a *b*</div><div>&nbsp; c</div></div>",
            "```\na *b*\n  c\n```"),
        Row("a rule", "a<hr/>b", "a\n\n---\n\nb"),
        Row(
            "a table", "<table><tr><th>a</th><th>b|c</th></tr><tr><td><div>1</div><div>2</div></td></tr></table>",
            "| a | b\\|c |\n| --- | --- |\n| 1 2 |  |"),
        Row("a table as a frame", "<table><tr><td><p>a</p></td></tr></table>b", "a\n\nb"),
        Row(
            "pictures", "<img src='a (1).png' alt='A [x]'><en-media hash='AB' type='image/png'/>",
            "![A x](a%20%281%29.png)![](evernote-resource:ab)"),
        Row(
            "what is not shown",
            "<script>alert(1)</script><style>a{}</style><div style='display:none'>no</div><svg><text>x</text></svg>yes",
            "yes"),
        Row("encrypted text", "a <en-crypt hint='x'>QUJD</en-crypt> b", "a [encrypted text] b"),
        Row(
            "characters that are Markdown", "<p># a</p><p>1. b</p><p>*c* _d_ [e](f) `g` \\* 2 * 3</p><p>a_b_c</p>",
            "\\# a\n\n1\\. b\n\n\\*c\\* \\_d\\_ \\[e](f) \\`g\\` \\\\\\* 2 * 3\n\na_b_c"),
        Row("unfinished", "<p>a<b>b", "a**b**"),
        Row("nothing", "", ""),
    ]

    @Test(arguments: rows) func htmlBecomesMarkdown(_ row: Row) {
        let result = MarkdownConverterTests.convert(row.html)
        #expect(result.text == row.markdown)
        #expect(result.problem == nil)
    }

    @Test func tasksAreAtTheirGroup() {
        let html = "a<div style='--en-task-group:true; --en-id:Ab-1;'></div>b"
        #expect(
            MarkdownConverterTests.convert(html, tasks: ["Ab-1": ["- [ ] x", "- [x] y"], "z": ["- [ ] last"]]).text
                == "a\n\n- [ ] x\n- [x] y\n\nb\n\n- [ ] last")
    }

    // MARK: Hostile documents

    @Test(arguments: [250, 260, 100_000]) func theDepthIsLimited(_ depth: Int) {
        let problem = MarkdownConverterTests.convert(String(repeating: "<div>", count: depth)).problem
        #expect(problem == (depth > 254 ? "Its elements are nested more than 256 levels deep." : nil))
    }

    /// Each of these takes linear time, or the test would not end.
    @Test(arguments: ["<b>", "[", "*a", "<ul><li>", "&", "<table><tr><td>", "`", "a ", "<a href=x>"])
    func repeatedPartsAreConverted(_ part: String) {
        #expect(
            MarkdownConverterTests.convert(String(repeating: part, count: 100_000), piece: 4_096).text.utf8.count
                < 4_000_000)
    }
}
