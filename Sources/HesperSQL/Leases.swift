import HesperModel
import HesperStore

extension SQLTransaction {
    public func takeLease(_ name: String, for holder: Int64, at date: Timestamp, until end: Timestamp) throws -> Bool {
        try sql.run(
            """
            INSERT INTO leases (name, holder, end_date) VALUES ($1, $2, $4)
            ON CONFLICT (name) DO UPDATE SET holder = $2, end_date = $4
            WHERE leases.holder = $2 OR leases.end_date <= $3
            """, [.text(name), .integer(holder), .date(date), .date(end)]) > 0
    }

    public func endLease(_ name: String, of holder: Int64) throws {
        try sql.enqueue("DELETE FROM leases WHERE name = $1 AND holder = $2", [.text(name), .integer(holder)])
    }
}
