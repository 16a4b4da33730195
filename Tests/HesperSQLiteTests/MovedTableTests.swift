import GRDB
import HesperStore
import Testing

@testable import HesperSQLite

@Suite("Moved tables")
struct MovedTableTests {
    /// Tables that are not moved: derived, temporary, or about the database itself.
    private static let excluded: Set = ["installation", "leases", "documents", "uploads", "imports"]
    /// Columns that the target computes, or does not have because its rows have no number.
    private static let computed = [
        "scopes": ["indexed_sequence"], "blobs": ["number"], "devices": ["number"], "objects": ["number"],
        "blob_store": ["one"], "tombstones": ["number"],
    ]
    private let folder = Folder()

    @Test("Every table and column is moved or explicitly excluded")
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
        #expect(Set(columns.keys) == Set(moved.map(\.name)).union(MovedTableTests.excluded))
        for table in moved {
            let known = Set(table.columns.map(\.name)).union(MovedTableTests.computed[table.name] ?? [])
            #expect(columns[table.name] == known, "\(table.name)")
        }
    }

    @Test("A database cannot be moved while it is open elsewhere, nor opened while it is moved")
    func exclusive() throws {
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
