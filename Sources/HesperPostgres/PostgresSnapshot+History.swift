import HesperModel
import HesperStore

extension PostgresSnapshot {
    func history(
        of object: UniqueID, in scope: ScopeID, before position: Int64?, limit: Int
    ) throws -> [StoredParcel] {
        // The index of an object's parcels contains `number`, but is ordered by clock. So the subquery reads `number` of all
        // parcels from the index, and sorts the values.
        let found = try connection.all(
            """
            SELECT type, is_servers, text_origin, body, pushed_by, pushed_at, number FROM edits
            WHERE scope = $1 AND number = ANY (ARRAY(
                SELECT number FROM edits WHERE scope = $1 AND object = $2 AND number < $3
                ORDER BY number DESC LIMIT $4))
            """, [.scope(scope), .id(object), .int8(position ?? Int64.max), .int(max(limit, 0))]
        ) { row in
            StoredParcel(
                parcel: try row.parcel(of: object), pushedBy: row.nodeIfAny(4), pushedAt: row.timestamp(5),
                position: row.integer(6))
        }
        return found.sorted { $0.position > $1.position }
    }
}
