import GRDB
import HesperModel
import HesperStore

/// A copy of a database, in a file that no server has open: what a backup has, and what it is restored from.
public struct SQLiteCopy: Sendable {
    private let path: String

    /// - Parameter path: of a file that ``SQLiteStore/copy(to:)`` made.
    public init(path: String) { self.path = path }

    /// Tables of what lets somebody in, or goes on where a client left it: none of that holds after a restore.
    private static let ended = ["devices", "tickets", "uploads"]

    /// The bytes that every account has, in the order of their arrival.
    public func blobs() throws -> [Blob] {
        try reading { database in
            let row = try Prepared(
                "SELECT nonce, byte_count, sha256, arrival_date, attachment, scope FROM blobs ORDER BY number",
                on: database)
            return try row.all { row.blob(of: try row.id(4), in: ScopeID(row.integer(5))) }
        }
    }

    /// How many accounts it has.
    public func accountCount() throws -> Int {
        try reading { try Int.fetchOne($0, sql: "SELECT count(*) FROM accounts") ?? 0 }
    }

    /// Makes it the database of an installation that went back in time (operating.md, Restoring): brings it to this version,
    /// begins a new epoch, and signs every device out. What it ends is overwritten, not just unlinked.
    /// - Throws: ``StoreError``: `newerDatabase` if a later Hesper has written it.
    public func beginNewEpoch() throws {
        try namingErrors {
            let queue = try DatabaseQueue(path: path)
            try queue.inDatabase { database in
                try Migrations.run(on: database)
                try database.execute(sql: "PRAGMA secure_delete = ON")
                try database.inTransaction {
                    for table in SQLiteCopy.ended { try database.execute(sql: "DELETE FROM \(table)") }
                    try database.execute(sql: "UPDATE scopes SET restored_sequence = sequence")
                    // Beside bytes that are new it begins like a new database; beside others it knows no marker.
                    try database.execute(
                        sql: """
                            UPDATE blob_store SET current_nonce = NULL, next_nonce = NULL, walk_date = NULL, accepted_unknown = 0;
                            DELETE FROM unknown_blobs; DELETE FROM leases
                            """)
                    try database.execute(
                        sql: "UPDATE installation SET epoch = ?",
                        arguments: [Int64(bitPattern: .random(in: 1 ... .max))])
                    return .commit
                }
            }
            try queue.close()
        }
    }

    private func reading<T>(_ body: (Database) throws -> T) throws -> T {
        var configuration = Configuration()
        configuration.readonly = true
        return try namingErrors {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let result = try queue.inDatabase(body)
            try queue.close()
            return result
        }
    }
}
