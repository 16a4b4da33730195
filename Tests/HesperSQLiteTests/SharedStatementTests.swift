import HesperSQL
import HesperStore
import Testing

@testable import HesperSQLite

/// The statements common to all SQL databases, run by SQLite.
@Suite("Shared statements")
struct SharedStatementTests {
    private let folder = Folder()

    private func onConnection<T: Sendable>(_ body: @escaping @Sendable (SQLiteSQL) throws -> T) async throws -> T {
        let store = try SQLiteStore(folder: folder.url)
        let result = try await store.write { transaction in
            try body(try #require(transaction as? SQLiteTransaction).sql)
        }
        try store.close()
        return result
    }

    @Test("Parameters are bound by number, in any order and repeatedly")
    func numbers() async throws {
        let found = try await onConnection { sql in
            try sql.first(
                "SELECT $3, $1, $2, $3, $11", (1...11).map { SQLValue.int($0) }
            ) { row in (0..<5).map { row.int($0) } }
        }
        #expect(found == [3, 1, 2, 3, 11])
    }

    @Test("A parameter without an argument, or without a number, is an error")
    func arguments() async throws {
        for statement in ["SELECT $1, $2", "SELECT ?", "SELECT :name"] {
            await #expect(throws: StoreError.failed("statement parameter without an argument")) {
                try await onConnection { sql in _ = try sql.first(statement, [.int(1)]) { $0.int(0) } }
            }
        }
    }

    @Test("A statement that changes an unexpected number of rows fails")
    func expectation() async throws {
        let statement = "UPDATE scopes SET quota = $2 WHERE id = $1"
        await #expect(throws: StoreError.failed("changed 0 rows instead of 1 in: \(statement)")) {
            try await onConnection { sql in try sql.enqueue(statement, [.int(7), .null], expecting: 1) }
        }
        try await onConnection { sql in try sql.enqueue(statement, [.int(7), .null]) }
    }

    @Test("A cursor returns each row once, and nothing after the last row or after it was closed")
    func cursors() async throws {
        let rows = "WITH n (i) AS (VALUES ($1), ($1 + 1), ($1 + 2)) SELECT i FROM n"
        let found = try await onConnection { sql in
            // Two cursors on the same statement, of which one is closed early.
            let left = try sql.cursor(rows, [.int(1)])
            let whole = try sql.cursor(rows, [.int(11)])
            var found = [try left.next { $0.int(0) }]
            for _ in 0..<5 { found.append(try whole.next { $0.int(0) }) }
            found.append(try left.next { $0.int(0) })
            left.close()
            found.append(try left.next { $0.int(0) })
            return found
        }
        #expect(found == [1, 11, 12, 13, nil, nil, 2, nil])
    }
}
