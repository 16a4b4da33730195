import HesperModel
import HesperStore

extension PostgresSnapshot {
    func mergedFrom(_ id: UniqueID, in scope: ScopeID) throws -> [UniqueID] {
        try connection.all(
            "SELECT id FROM tombstones WHERE scope = $1 AND merged_into = $2 ORDER BY sequence",
            [.scope(scope), .id(id)]
        ) { try $0.id(0) }
    }

    func deletedNotes(
        in scope: ScopeID, since date: Timestamp, before sequence: Int64?, limit: Int
    ) throws -> [DeletedNote] {
        try connection.all(
            """
            SELECT type, merged_into, deletion_date, sequence, id, deleted_by, arrival_date FROM tombstones
            WHERE scope = $1 AND type = 'note' AND sequence < $2 AND arrival_date >= $3
            ORDER BY sequence DESC LIMIT $4
            """, [.scope(scope), .int8(sequence ?? Int64.max), .date(date), .int(max(limit, 0))]
        ) { row in
            DeletedNote(
                deleted: try row.deletedObject(id: try row.id(4)), deletedBy: row.nodeIfAny(5),
                arrivalDate: row.timestamp(6), sequence: row.integer(3))
        }
    }

    /// By ID, the two tables merged.
    func digests(
        in scope: ScopeID, prefix: String, _ body: (UniqueID, ObjectType, Digest) throws -> Void
    ) throws {
        guard let range = UniqueID.range(withPrefix: prefix) else { return }
        try connection.scan(
            """
            SELECT id, type, merged_into, deletion_date, digest FROM (
                SELECT id, type, NULL::uuid AS merged_into, NULL::timestamptz AS deletion_date, digest FROM objects
                WHERE scope = $1 AND id BETWEEN $2 AND $3 AND sequence IS NOT NULL
                UNION ALL
                SELECT id, type, merged_into, deletion_date, NULL FROM tombstones
                WHERE scope = $1 AND id BETWEEN $2 AND $3) AS rows
            ORDER BY id
            """, [.scope(scope), .id(range.lowerBound), .id(range.upperBound)]
        ) { row in
            let id = try row.id(0)
            let digest = row.isNull(4) ? try row.deletedObject(id: id, from: 1).digest : try row.digest(4)
            try body(id, try row.type(1), digest)
            return true
        }
    }
}
