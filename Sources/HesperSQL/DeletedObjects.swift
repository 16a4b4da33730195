import HesperModel
import HesperStore

extension SQLSnapshot {
    /// Returns the IDs of the objects that were merged directly into this object, in the order of the sequence numbers of their
    /// DeletedObjects.
    public func mergedFrom(_ id: UniqueID, in scope: ScopeID) throws -> [UniqueID] {
        let rows = try sql.all(
            "SELECT id, sequence FROM tombstones WHERE scope = $1 AND merged_into = $2", [.scope(scope), .id(id)]
        ) { (id: try $0.id(0), sequence: $0.integer(1)) }
        return rows.sorted { $0.sequence < $1.sequence }.map(\.id)
    }

    public func deletedNotes(
        in scope: ScopeID, since date: Timestamp, before sequence: Int64?, limit: Int
    ) throws -> [DeletedNote] {
        try sql.all(
            """
            SELECT type, merged_into, deletion_date, sequence, id, deleted_by, arrival_date FROM tombstones
            WHERE scope = $1 AND type = 'note' AND sequence < $2 AND arrival_date >= $3
            ORDER BY sequence DESC LIMIT $4
            """, [.scope(scope), .integer(sequence ?? .max), .date(date), .limit(limit)]
        ) { row in
            DeletedNote(
                deleted: try row.deletedObject(id: try row.id(4)), deletedBy: row.nodeIfAny(5),
                arrivalDate: row.timestamp(6), sequence: row.integer(3))
        }
    }

    public func digests(
        in scope: ScopeID, prefix: String, _ body: (UniqueID, ObjectType, Digest) throws -> Void
    ) throws {
        guard let range = UniqueID.range(withPrefix: prefix) else { return }
        try sql.each(
            """
            SELECT id, type, NULL AS merged_into, NULL AS deletion_date, digest FROM objects
            WHERE scope = $1 AND id BETWEEN $2 AND $3 AND sequence IS NOT NULL
            UNION ALL
            SELECT id, type, merged_into, deletion_date, NULL FROM tombstones
            WHERE scope = $1 AND id BETWEEN $2 AND $3
            ORDER BY id
            """, [.scope(scope), .id(range.lowerBound), .id(range.upperBound)]
        ) { row in
            let id = try row.id(0)
            let digest = row.isNull(4) ? try row.deletedObject(id: id, from: 1).digest : try row.digest(4)
            try body(id, try row.type(1), digest)
        }
    }
}
