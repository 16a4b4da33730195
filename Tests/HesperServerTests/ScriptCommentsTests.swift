import Foundation
import Testing

@testable import HesperServer

/// Comments are removed; code is unchanged.
@Suite struct ScriptCommentsTests {
    private static func removed(_ script: String) -> String? {
        ScriptComments.removed(from: Array(script.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [
        ("// all of it", ""),
        ("a() // why\nb()", "a()\nb()"),
        ("a()\r\n  // why\r\nb()", "a()\r\n\r\nb()"),
        ("a()\n  /**\n   * what\n   * @type {string}\n   */\nb()", "a()\n\n\n\n\nb()"),
        ("return/* a value */value", "return value"),
        ("return /* on\nits own */ value", "return\n value"),
        ("a /* one */ /* two */ + b", "a  + b"),
        ("a /* // */ + b // */", "a  + b"),
        ("/**/a", " a"),
        ("/***/a/****/", " a "),
        ("a /* ** / */ + b", "a  + b"),
        ("// line\u{2028}b()", "\u{2028}b()"),
        ("/* wörter, 文字 */const ä = 1", " const ä = 1"),
    ]) func commentsAreRemoved(_ script: String, _ code: String) {
        #expect(ScriptCommentsTests.removed(script) == code)
    }

    @Test(arguments: [
        // Strings
        #"const a = "http://x/*", b = '//', c = "\"//\"", d = '\'/*'"#,
        "const a = 'one \\\n// two'",
        #"const a = "\\", b = "//""#,
        // Templates
        "const a = `http://${host}/*${path}*/`",
        "const a = `// ${`/* ${b} */`} //`",
        "const a = `${{b: \"}\"}.b} // ${() => { return '`' }}`",
        "const a = `\\` // \\${ // `",
        "const a = `$ // {}`",
        // Regular expressions
        "const a = /\\/\\//, b = /[/*]/g, c = /[\\]//]/u",
        "text.replace(/\"/g, '').replace(/'/g, \"\")",
        "a = b ? /'/ : /\"/",
        "return /`/.test(a)",
        "if (a) /'/.exec(b)",
        "for await (const a of b) /'/.exec(a)",
        "while ((a)) /'/.exec(b)",
        "const a = [.../'/.exec(b)]",
        "const a = () => /[^/]'/y",
        "const a = typeof /'/ && !/'/.test(b) || {c: /'/}",
        "export default /'/",
        "case /'/: break",
        // Divisions
        "const a = b / 2 / '//'.length",
        "const a = (b + c) / '//'.length / 2",
        "const a = b[0] / '//'.length / 2",
        "const a = b() / 2, c = '//' / 1",
        "const a = 1. / 2 / '//'",
        "const a = .5 / 2 / '//'",
        "const a = this / 2 / '//'",
        "const a = b.return / 2 / '//'",
        "const a = b?.in / 2 / '//'",
        "const a = b.if(c) / 2 / '//'",
        "const a = this.#of / 2 / '//'",
        "const a = `b` / 2 / '//'",
        "const a = /b/ / 2 / '//'",
        "a /= 2",
        "a = b++ + ++c - d-- - --e",
    ]) func codeIsUnchanged(_ script: String) {
        #expect(ScriptCommentsTests.removed(script) == script)
        #expect(ScriptCommentsTests.removed(script + " // why") == script)
        #expect(ScriptCommentsTests.removed("/* why\n */" + script) == "\n" + script)
    }

    /// Scripts in which only a parser can classify a `/`, and malformed scripts.
    @Test(arguments: [
        "{} /a/ 1", "a++ / 2", "--/a/.lastIndex", "of / 2", "yield /a/", "await / 2", "ä / 2", "\\u0069f / 2",
        "'a", "\"a\nb\"", "`a", "`${a`", "a = /b", "a = /b\n/", "/* a", "(a", "a)", "{", "}", "a = /[/",
        "'a\\", "`a\\", "a = /\\",
    ]) func unclearScriptsAreNotChanged(_ script: String) {
        #expect(ScriptCommentsTests.removed(script) == nil)
    }

    /// For every prefix of a script the function returns; it does not read past the end.
    @Test func everyPrefixIsHandled() {
        let script = Array("if (a) /[/'\\]]/g; `$\\{${'\"' + {b: 1}}`; /* c\u{2028} */ x.y /= .5... // d".utf8)
        for count in 0...script.count { _ = ScriptComments.removed(from: Array(script.prefix(count))) }
    }

    private static let publicFolder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../Public")

    /// An unclear script would be served with its comments. (test_web_house.py tests with the TypeScript compiler that the served
    /// scripts are the same programs.)
    @Test func allScriptsOfTheWebAppAreClear() throws {
        let paths = FileManager.default.enumerator(atPath: ScriptCommentsTests.publicFolder.path)
        var count = 0
        while let path = paths?.nextObject() as? String {
            guard path.hasSuffix(".js") else { continue }
            count += 1
            let script = try Data(contentsOf: ScriptCommentsTests.publicFolder.appending(path: path))
            let code = try #require(ScriptComments.removed(from: Array(script)), "\(path) is unclear")
            #expect(code.count < script.count, "\(path) has no comment")
            #expect(code.count { $0 == 0x0a } == script.count { $0 == 0x0a }, "the line numbers of \(path) changed")
        }
        #expect(count > 10)
    }
}
