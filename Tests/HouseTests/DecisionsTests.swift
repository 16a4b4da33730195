import Foundation
import Testing

/// Checks that the decision records are numbered consecutively and listed in the index.
@Suite struct DecisionsTests {
    private static let folder = ImportsTests.root.appending(path: "docs/decisions")

    private static func records() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != "README.md" }.sorted()
    }

    @Test func numbersAreConsecutive() throws {
        let records = try DecisionsTests.records()
        #expect(records.map { String($0.prefix(5)) } == (1...records.count).map { String(format: "%04d-", $0) })
    }

    /// `| 7 | [Sessions are looked up, not cached](0007-….md) | accepted |`
    @Test func theIndexListsEachRecordWithTitleAndStatus() throws {
        let rows = try String(contentsOf: DecisionsTests.folder.appending(path: "README.md"), encoding: .utf8)
            .matches(of: #/\| (\d+) \| \[(.+)\]\((.+\.md)\) \| (accepted|withdrawn|replaced by \d+) \|/#)
        #expect(try rows.map { String($0.3) } == DecisionsTests.records())
        for row in rows {
            let record = try String(
                contentsOf: DecisionsTests.folder.appending(path: String(row.3)), encoding: .utf8)
            #expect(
                record.hasPrefix("# \(row.1). \(row.2)\n"),
                "\(row.3) does not begin with the number and title in the index")
        }
    }
}
