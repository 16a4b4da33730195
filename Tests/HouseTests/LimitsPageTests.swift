import Foundation
import Testing

/// Checks that docs/operating.md lists every published limit, with the tests for it.
@Suite struct LimitsPageTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: CitationsTests.root.appending(path: path), encoding: .utf8)
    }

    /// The rows of the table, without its header.
    private static func rows() throws -> [Substring] {
        let page = try text("docs/operating.md")
        let start = try #require(page.range(of: "\n## Limits\n"))
        let end = try #require(page[start.upperBound...].range(of: "\n## "))
        return Array(
            page[start.upperBound..<end.lowerBound].split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst(2))
    }

    @Test func everyLimitHasItsTests() throws {
        let rows = try LimitsPageTests.rows()
        #expect(rows.count > 30)
        for row in rows {
            let tests = row.matches(of: #/`([A-Za-z0-9_\/]+\.(?:py|swift))::([A-Za-z0-9_]+)`/#)
            #expect(!tests.isEmpty, "no test is named in: \(row)")
            for test in tests {
                let text = (try? LimitsPageTests.text("Tests/\(test.1)")) ?? ""
                let exists = ["def \(test.2)(", "func \(test.2)("].contains(where: text.contains)
                #expect(exists, "docs/operating.md names \(test.0), which does not exist")
            }
        }
    }

    /// Compares with the names in the contract, which other tests compare with the server.
    @Test func everyPublishedLimitIsThere() throws {
        let contract = try LimitsPageTests.text("openapi.yaml")
        let start = try #require(contract.range(of: "\n    Limits:\n"))
        let end = try #require(contract[start.upperBound...].range(of: "\n\n"))
        let names = contract[start.upperBound..<end.lowerBound].matches(of: #/\n {8}([A-Za-z]+):/#).map { $0.1 }
        #expect(names.count > 25)
        let rows = try LimitsPageTests.rows()
        for name in names {
            #expect(rows.contains { $0.contains("`\(name)`") }, "docs/operating.md has no row for \(name)")
        }
    }
}
