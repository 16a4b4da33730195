import HesperModel
import HesperStore

extension PostgresTransaction {
    /// What somebody else has locked is left for the next time, so this waits for nobody.
    func claimSweeps(dueBy date: Timestamp, limit: Int, until claim: Timestamp) throws -> [DueSweep] {
        let due = try connection.all(
            """
            SELECT scope, object, looked_at FROM sweeps WHERE due_date <= $1 ORDER BY due_date LIMIT $2
            FOR UPDATE SKIP LOCKED
            """, [.date(date), .int(max(limit, 0))]
        ) { row in
            DueSweep(scope: row.scope(0), object: try row.id(1), position: row.integer(2), claim: claim)
        }
        if !due.isEmpty {
            connection.enqueue(
                """
                UPDATE sweeps s SET due_date = $3 FROM unnest($1::bigint[], $2::uuid[]) AS due (scope, object)
                WHERE s.scope = due.scope AND s.object = due.object
                """,
                [.int8Array(due.map(\.scope.rawValue)), .uuidArray(due.map(\.object)), .date(claim)],
                expecting: due.count)
        }
        return due
    }

    func end(_ sweep: DueSweep, next: Timestamp?) throws {
        guard try hold(sweep.scope) else { return }
        connection.enqueue(
            """
            UPDATE sweeps SET due_date = CASE WHEN due_date = $3 THEN $4::timestamptz ELSE least(due_date, $4) END
            WHERE scope = $1 AND object = $2
            """, sweep.key + [.date(sweep.claim), .date(next)])
    }

    func forget(_ sweep: DueSweep) throws {
        guard try hold(sweep.scope) else { return }
        connection.enqueue(
            "DELETE FROM sweeps WHERE scope = $1 AND object = $2 AND due_date = $3", sweep.key + [.date(sweep.claim)])
    }
}

// MARK: - Edits

extension PostgresTransaction {
    func keep(_ edit: SweptEdit, of sweep: DueSweep) throws {
        // The account may have gone meanwhile.
        guard try hold(sweep.scope) else { return }
        let versions = edit.versions
        connection.enqueue(
            """
            WITH looked AS (UPDATE sweeps SET looked_at = $3 WHERE scope = $1 AND object = $2 RETURNING scope)
            INSERT INTO versions (scope, object, edit, attribute, clock, pushed_at, sequence)
            SELECT $1::bigint, $2::uuid, $3::bigint, n.*
            FROM looked, unnest($4::text[], $5::bytea[], $6::timestamptz[], $7::bigint[]) n
            ON CONFLICT DO NOTHING
            """,
            sweep.key + [
                .int8(edit.position), .textArray(versions.map(\.attribute.description)),
                .array(.bytes, versions.map { .clock($0.version.clock) }),
                .array(.date, versions.map { .date($0.version.pushedAt) }),
                .int8Array(versions.map(\.version.sequence)),
            ])
    }

    func drop(_ values: SweptEdit, of sweep: DueSweep) throws {
        guard try hold(sweep.scope) else { return }
        let found = try connection.first(
            "SELECT \(ParcelChecksum.columns) FROM edits WHERE scope = $1 AND object = $2 AND number = $3",
            sweep.key + [.int8(values.position)]
        ) { row in
            let bytes = row.bytes(3)
            let body = ParcelBody.write(values.dropped(from: try ParcelBody.read(bytes)))
            return (body: body, added: body.count - bytes.count, checksum: row.parcelChecksum(with: body))
        }
        guard let found else { return }
        connection.enqueue(
            "UPDATE edits SET body = $3, checksum = $4 WHERE scope = $1 AND number = $2",
            [.scope(sweep.scope), .int8(values.position), .json(found.body), .int8(found.checksum)], expecting: 1)
        connection.enqueue(
            "UPDATE scopes SET parcel_bytes = parcel_bytes + $2 WHERE id = $1",
            [.scope(sweep.scope), .int(found.added)], expecting: 1)
        connection.enqueue(
            "DELETE FROM versions WHERE scope = $1 AND object = $2 AND edit = $3 AND attribute = ANY ($4)",
            sweep.key + [.int8(values.position), .textArray(values.versions.map(\.attribute.description))])
    }

    func purge(editAt position: Int64, of sweep: DueSweep) throws {
        guard try hold(sweep.scope) else { return }
        for sql in [
            """
            WITH gone AS (
                DELETE FROM edits WHERE scope = $1 AND object = $2 AND number = $3
                RETURNING octet_length(body::text) AS bytes)
            UPDATE scopes SET parcel_bytes = parcel_bytes - gone.bytes FROM gone WHERE id = $1
            """,
            "DELETE FROM versions WHERE scope = $1 AND object = $2 AND edit = $3",
        ] { connection.enqueue(sql, sweep.key + [.int8(position)]) }
    }
}

// MARK: - Leases

extension PostgresTransaction {
    func takeLease(_ name: String, for holder: Int64, at date: Timestamp, until end: Timestamp) throws -> Bool {
        try connection.run(
            """
            INSERT INTO leases (name, holder, end_date) VALUES ($1, $2, $4)
            ON CONFLICT (name) DO UPDATE SET holder = $2, end_date = $4
            WHERE leases.holder = $2 OR leases.end_date <= $3
            """, [.text(name), .int8(holder), .date(date), .date(end)]) > 0
    }

    func endLease(_ name: String, of holder: Int64) throws {
        connection.enqueue("DELETE FROM leases WHERE name = $1 AND holder = $2", [.text(name), .int8(holder)])
    }
}

extension DueSweep {
    fileprivate var key: [PostgresValue] { [.scope(scope), .id(object)] }
}
