import GRDB
import HesperStore
import Testing

@testable import HesperSQLite

@Suite("What moves to another database")
struct MovedTableTests {
    /// What is made again, under way, or of the database itself.
    private static let left: Set = ["installation", "leases", "documents", "uploads"]
    /// What the target gives anew, or needs not: there, rows are found without a number.
    private static let given = [
        "scopes": ["indexed_sequence"], "blobs": ["number"], "devices": ["number"], "objects": ["number"],
        "blob_store": ["one"], "tombstones": ["number"],
    ]
    private let folder = Folder()

    @Test("Every table and every column moves, or is left behind on purpose")
    func columns() throws {
        try SQLiteStore(folder: folder.url).close()
        let columns = try DatabaseQueue(path: folder.database).read { database in
            let tables = try String.fetchAll(
                database,
                sql:
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'terms%'"
            )
            return try Dictionary(
                uniqueKeysWithValues: tables.map { ($0, Set(try database.columns(in: $0).map(\.name))) })
        }
        let moved = MovedTable.ofScopes + MovedTable.shared
        #expect(Set(columns.keys) == Set(moved.map(\.name)).union(MovedTableTests.left))
        for table in moved {
            let known = Set(table.columns.map(\.name)).union(MovedTableTests.given[table.name] ?? [])
            #expect(columns[table.name] == known, "\(table.name)")
        }
    }

    @Test("While it is read, nobody else can have it open; nor is it read while somebody has")
    func alone() throws {
        let store = try SQLiteStore(folder: folder.url)
        #expect(throws: MoveRefusal.inUse) { try SQLiteRows.whileOpen(folder: folder.url) { _ in } }
        try store.close()
        let installation = try SQLiteRows.whileOpen(folder: folder.url) { rows throws -> Installation? in
            #expect(throws: StoreError.self) { try SQLiteStore(folder: folder.url, busyTimeout: .milliseconds(10)) }
            return try rows.installation()
        }
        #expect(installation == store.installation)
        try SQLiteStore(folder: folder.url).close()
    }
}
