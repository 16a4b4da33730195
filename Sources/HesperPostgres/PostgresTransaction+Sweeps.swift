import HesperModel
import HesperStore

extension PostgresTransaction {
    func claimSweeps(dueBy date: Timestamp, limit: Int, until claim: Timestamp) throws -> [DueSweep] {
        let due = try dueSweeps(by: date, limit: limit, until: claim)
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
}

// MARK: - Edits

extension PostgresTransaction {
    func record(_ edit: SweptEdit, of sweep: DueSweep) throws {
        // If the account was deleted after the sweep began, there is nothing to record.
        guard try lockRow(of: sweep.scope) else { return }
        let versions = edit.versions
        connection.enqueue(
            """
            WITH updated AS (UPDATE sweeps SET looked_at = $3 WHERE scope = $1 AND object = $2 RETURNING scope)
            INSERT INTO versions (scope, object, edit, attribute, clock, pushed_at, sequence)
            SELECT $1::bigint, $2::uuid, $3::bigint, n.*
            FROM updated, unnest($4::text[], $5::bytea[], $6::timestamptz[], $7::bigint[]) n
            ON CONFLICT DO NOTHING
            """,
            [
                .scope(sweep.scope), .id(sweep.object), .int8(edit.position),
                .textArray(versions.map(\.attribute.description)),
                .array(.bytes, versions.map { .clock($0.version.clock) }),
                .array(.date, versions.map { .date($0.version.pushedAt) }),
                .int8Array(versions.map(\.version.sequence)),
            ])
    }
}
