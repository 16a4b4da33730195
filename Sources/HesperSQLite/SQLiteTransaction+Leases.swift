import HesperModel
import HesperStore

extension SQLiteTransaction {
    func takeLease(_ name: String, for holder: Int64, at date: Timestamp, until end: Timestamp) throws -> Bool {
        let take = try prepare(
            """
            INSERT INTO leases (name, holder, end_date) VALUES (?1, ?2, ?4)
            ON CONFLICT (name) DO UPDATE SET holder = ?2, end_date = ?4 WHERE holder = ?2 OR end_date <= ?3
            """)
        take.bind(1, name)
        take.bind(2, holder)
        take.bind(3, date)
        take.bind(4, end)
        return try take.run() > 0
    }

    func endLease(_ name: String, of holder: Int64) throws {
        let delete = try prepare("DELETE FROM leases WHERE name = ?1 AND holder = ?2")
        delete.bind(1, name)
        delete.bind(2, holder)
        try delete.run()
    }
}
