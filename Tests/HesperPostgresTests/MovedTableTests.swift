import HesperStore
import Testing

@testable import HesperPostgres

@Suite(
    "Moved tables",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct MovedTableTests {
    /// Tables that are not moved: derived, temporary, or about the database itself.
    private static let excluded: Set = [
        "hesper", "installation", "leases", "indexing", "documents", "terms", "uploads", "imports", "staged_uploads",
        "upload_parts",
    ]
    /// Columns that the target computes.
    private static let computed = [
        "scopes": ["last_edit", "is_behind"], "blobs": ["number"], "devices": ["number"], "blob_store": ["one"],
    ]

    @Test("Every table and column is moved or explicitly excluded")
    func columns() async throws {
        let found = try await onConnection { connection in
            try Migrations.run(on: connection)
            return try connection.all(
                """
                SELECT c.relname::text, a.attname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
                """
            ) { (table: $0.string(0), column: $0.string(1)) }
        }
        let columns = Dictionary(grouping: found, by: \.table).mapValues { Set($0.map(\.column)) }
        let moved = MovedTable.ofScopes + MovedTable.shared
        #expect(Set(columns.keys) == Set(moved.map(\.name)).union(MovedTableTests.excluded))
        for table in moved {
            let known = Set(table.columns.map(\.name)).union(MovedTableTests.computed[table.name] ?? [])
            #expect(columns[table.name] == known, "\(table.name)")
        }
    }
}
