import HesperModel
import HesperStore

extension PostgresRows {
    public func begin(for installation: Installation) throws {
        let epoch = Int64(bitPattern: installation.epoch)
        try transaction {
            // Servers read this table when they open the database. The lock makes them wait until this transaction ends.
            connection.enqueue("LOCK TABLE installation")
            let mark = try connection.first("SELECT holder FROM leases WHERE name = $1", [.text(MoveMarker.leaseName)])
            {
                $0.integer(0)
            }
            if let mark {
                guard mark == epoch else { throw MoveRefusal.targetNotEmpty }
                return
            }
            guard try self.installation() != installation else { throw MoveRefusal.alreadyMoved }
            guard try PostgresSnapshot(connection).isEmpty() else { throw MoveRefusal.targetNotEmpty }
            guard try !isInUse() else { throw MoveRefusal.inUse }
            connection.enqueue("DELETE FROM installation")
            connection.enqueue("DELETE FROM leases")
            connection.enqueue("DELETE FROM blob_store")
            connection.enqueue("DELETE FROM unknown_blobs")
            connection.enqueue(
                "INSERT INTO leases (name, holder, end_date) VALUES ($1, $2, now())",
                [.text(MoveMarker.leaseName), .int8(epoch)])
        }
    }

    public func scopes() throws -> Set<ScopeID> { Set(try connection.all("SELECT id FROM scopes") { $0.scope(0) }) }

    public func transaction(_ body: () throws -> Void) throws {
        connection.enqueue("BEGIN")
        do {
            try body()
            try connection.run("COMMIT")
        } catch {
            // If ROLLBACK fails, the connection is lost, and the server rolls the transaction back itself.
            _ = try? connection.run("ROLLBACK")
            throw error
        }
    }

    public func remove(_ scopes: [ScopeID]) throws {
        let scopes = PostgresValue.int8Array(scopes.map(\.rawValue))
        connection.enqueue("DELETE FROM indexing WHERE scope = ANY ($1)", [scopes])
        for table in MovedTable.ofScopes {
            connection.enqueue("DELETE FROM \(table.name) WHERE \(table.scope) = ANY ($1)", [scopes])
        }
    }

    public func insert(
        into table: MovedTable, _ rows: (_ append: ([MovedValue]) throws -> Void) throws -> Void
    ) throws {
        try connection.copyIn("COPY \(table.name) (\(table.list)) FROM STDIN (FORMAT binary)") { copy in
            try rows { row in try copy.append(zip(table.columns, row).map { $0.argument($1) }) }
        }
    }

    /// Completes the rows of scopes after they were copied. Sets `last_edit`, so that the next parcel gets a number that was never
    /// used before. This number must be greater than the numbers of all copied parcels, and of all parcels that a sweep has read,
    /// even if they were removed later. The search index is filled later by a background task.
    public func complete(_ scopes: [ScopeID]) throws {
        let scopes = PostgresValue.int8Array(scopes.map(\.rawValue))
        connection.enqueue(
            """
            UPDATE scopes SET is_behind = sequence > 0, last_edit = coalesce(greatest(
                (SELECT max(number) FROM edits WHERE scope = id), (SELECT max(edit) FROM versions WHERE scope = id),
                (SELECT max(looked_at) FROM sweeps WHERE scope = id)), 0)
            WHERE id = ANY ($1)
            """, [scopes])
        connection.enqueue("INSERT INTO indexing (scope, indexed_sequence) SELECT unnest($1::bigint[]), 0", [scopes])
    }

    public func finish(_ installation: Installation, lastScope: Int64) throws {
        if lastScope > 0 {
            try connection.run("SELECT setval(pg_get_serial_sequence('scopes', 'id'), $1::bigint)", [.int8(lastScope)])
        }
        connection.enqueue(
            "INSERT INTO installation (one, epoch, node) VALUES (true, $1, $2)",
            [.int8(Int64(bitPattern: installation.epoch)), .node(installation.node)])
        connection.enqueue("DELETE FROM leases WHERE name = $1", [.text(MoveMarker.leaseName)], expecting: 1)
        // Analyze the copied tables now. Otherwise autovacuum would do this only about a minute later.
        let tables = (MovedTable.ofScopes + MovedTable.shared).map(\.name).joined(separator: ", ")
        try connection.run("ANALYZE \(tables)")
    }
}
