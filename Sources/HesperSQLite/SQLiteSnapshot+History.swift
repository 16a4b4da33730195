import HesperModel
import HesperStore

extension SQLiteSnapshot {
    func history(
        of object: UniqueID, in scope: ScopeID, before position: Int64?, limit: Int
    ) throws -> [StoredParcel] {
        // The index is in the order of clocks. The numbers alone come from it without touching a row.
        let numbers = try prepare("SELECT number FROM edits WHERE scope = ?1 AND object = ?2 AND number < ?3")
        numbers.bind(1, scope)
        numbers.bind(2, object)
        numbers.bind(3, position ?? .max)
        let newest = try numbers.all { numbers.integer(0) }.sorted(by: >).prefix(max(limit, 0))
        let row = try prepare(
            "SELECT type, is_servers, text_origin, body, pushed_by, pushed_at FROM edits WHERE number = ?")
        return try newest.compactMap { number in
            row.bind(1, number)
            return try row.first {
                StoredParcel(
                    parcel: try row.parcel(of: object), pushedBy: row.nodeIfAny(4), pushedAt: row.timestamp(5),
                    position: number)
            }
        }
    }
}
