import HesperModel
import HesperSQL
import HesperStore

extension SQLiteSnapshot {
    func history(
        of object: UniqueID, in scope: ScopeID, before position: Int64?, limit: Int
    ) throws -> [StoredParcel] {
        // The index of an object's parcels contains `number`, but is ordered by clock. So first read `number` of all parcels from
        // the index, and sort the values.
        let numbers = try sql.all(
            "SELECT number FROM edits WHERE scope = $1 AND object = $2 AND number < $3",
            [.scope(scope), .id(object), .integer(position ?? .max)]
        ) { $0.integer(0) }
        return try numbers.sorted(by: >).prefix(max(limit, 0)).compactMap { number in
            try sql.first(
                "SELECT type, is_servers, text_origin, body, pushed_by, pushed_at FROM edits WHERE number = $1",
                [.integer(number)]
            ) { row in
                StoredParcel(
                    parcel: try row.parcel(of: object), pushedBy: row.nodeIfAny(4), pushedAt: row.timestamp(5),
                    position: number)
            }
        }
    }
}
