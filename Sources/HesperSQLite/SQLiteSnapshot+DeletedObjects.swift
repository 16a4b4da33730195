import HesperModel
import HesperStore

extension SQLiteSnapshot {
    func mergedFrom(_ id: UniqueID, in scope: ScopeID) throws -> [UniqueID] {
        let row = try prepare("SELECT id FROM tombstones WHERE scope = ?1 AND merged_into = ?2 ORDER BY number")
        row.bind(1, scope)
        row.bind(2, id)
        return try row.all { try row.id(0) }
    }

    func deletedNotes(
        in scope: ScopeID, since date: Timestamp, before sequence: Int64?, limit: Int
    ) throws -> [DeletedNote] {
        let row = try prepare(
            """
            SELECT type, merged_into, deletion_date, sequence, id, deleted_by, arrival_date FROM tombstones
            WHERE scope = ?1 AND type = 'note' AND sequence < ?2 AND arrival_date >= ?3
            ORDER BY sequence DESC LIMIT ?4
            """)
        row.bind(1, scope)
        row.bind(2, sequence ?? .max)
        row.bind(3, date)
        row.bind(4, max(limit, 0))
        return try row.all {
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
        let objects = try prepare(
            """
            SELECT id, type, digest FROM objects
            WHERE scope = ?1 AND id BETWEEN ?2 AND ?3 AND sequence IS NOT NULL ORDER BY id
            """)
        let deleted = try prepare(
            """
            SELECT id, type, merged_into, deletion_date FROM tombstones
            WHERE scope = ?1 AND id BETWEEN ?2 AND ?3 ORDER BY id
            """)
        for rows in [objects, deleted] {
            rows.bind(1, scope)
            rows.bind(2, range.lowerBound)
            rows.bind(3, range.upperBound)
        }
        defer {
            objects.reset()
            deleted.reset()
        }
        var object = try objects.step() ? objects.id(0) : nil
        var dead = try deleted.step() ? deleted.id(0) : nil
        while object != nil || dead != nil {
            if let id = object, dead.map({ id < $0 }) ?? true {
                try body(id, try objects.type(1), try objects.digest(2))
                object = try objects.step() ? objects.id(0) : nil
            } else if let id = dead {
                try body(id, try deleted.type(1), try deleted.deletedObject(id: id, from: 1).digest)
                dead = try deleted.step() ? deleted.id(0) : nil
            }
        }
    }
}
