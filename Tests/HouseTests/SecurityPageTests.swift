import Foundation
import Testing

/// Checks that docs/security.md names a test for every promise.
@Suite struct SecurityPageTests {
    @Test func everyPromiseHasItsTests() throws {
        let root = CitationsTests.root
        let page = try String(contentsOf: root.appending(path: "docs/security.md"), encoding: .utf8)
        let lines = page.split(separator: "\n")
        let isRule = { (line: Substring) in line.hasPrefix("| ---") }
        // The row above a rule is the header of a table.
        let rows = zip(lines, lines.dropFirst() + [""]).filter { line, next in
            line.hasPrefix("| ") && !isRule(line) && !isRule(next)
        }.map(\.0)
        #expect(rows.count > 60)
        for row in rows {
            let tests = row.matches(of: #/`([A-Za-z0-9_\/]+\.(?:py|swift))::([A-Za-z0-9_]+)`/#)
            #expect(!tests.isEmpty, "no test is named in: \(row)")
            for test in tests {
                let file = root.appending(path: "Tests/\(test.1)")
                let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
                let exists = ["def \(test.2)(", "func \(test.2)("].contains(where: text.contains)
                #expect(exists, "docs/security.md names \(test.0), which does not exist")
            }
        }
    }
}
