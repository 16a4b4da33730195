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

    /// What a copy holds, and what is wrong with it.
    public struct Look: Sendable {
        public var accounts = 0
        /// Whether all edits were folded again.
        public var isFolded = false
        /// Sentences: what SQLite's integrity check finds, at most ``SQLiteCopy/findingLimit``, then what `hesper check`
        /// finds.
        public var findings: [String] = []
    }

    /// Sentences of SQLite's: where more than a few pages are damaged, the first tell enough.
    static let findingLimit = 20

    /// Reads all of it: SQLite's integrity check, then every account's edits, folded again. Edits of a copy that an earlier
    /// version wrote are not folded: this version reads them only after a migration.
    /// - Throws: ``StoreError``: `newerDatabase` if a later Hesper has written it, `damaged` if it cannot be read to its end.
    public func look() throws -> Look {
        try reading { database in
            let (version, known) = (try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0, Migrations.version)
            guard version <= known else { throw StoreError.newerDatabase(version: version, known: known) }
            var look = Look()
            look.findings = try String.fetchAll(
                database, sql: "PRAGMA integrity_check(\(SQLiteCopy.findingLimit))"
            ).filter { $0 != "ok" }.map { "SQLite finds in the database: \($0)" }
            let accounts = try Row.fetchAll(
                database,
                sql: """
                    SELECT a.email, m.scope FROM accounts a JOIN memberships m ON m.account = a.id ORDER BY a.email_key
                    """)
            look.accounts = accounts.count
            look.isFolded = version == known
            guard look.isFolded else { return look }
            for account in accounts {
                let (email, scope): (String, Int64) = (account[0], account[1])
                try SQLiteSnapshot(database).inconsistencies(in: ScopeID(scope)) {
                    look.findings.append("\(email): \($0)")
                }
            }
            return look
        }
    }

    /// Makes it the database of an installation that went back in time (operating.md, Restoring): brings it to this version,
    /// begins a new epoch, and signs every device out. What it ends is overwritten, not just unlinked.
    /// - Parameter lost: bytes that could not be restored. Their attachments are left out too: an attachment that is there always
    ///   has its bytes, and devices give back both.
    /// - Throws: ``StoreError``: `newerDatabase` if a later Hesper has written it.
    public func beginNewEpoch(forgetting lost: [Blob] = []) throws {
        try namingErrors {
            let queue = try DatabaseQueue(path: path)
            try queue.inDatabase { database in
                try Migrations.run(on: database)
                try database.execute(sql: "PRAGMA secure_delete = ON")
                try database.inTransaction {
                    for blob in lost { try SQLiteCopy.forget(blob, in: database) }
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

    private static func forget(_ blob: Blob, in database: Database) throws {
        func prepare(_ sql: String) throws -> Prepared {
            let statement = try Prepared(sql, on: database)
            statement.bind(1, blob.name.scope)
            return statement
        }
        let head = try prepare("SELECT digest FROM scopes WHERE id = ?1")
        let object = try prepare("SELECT digest FROM objects WHERE scope = ?1 AND id = ?2")
        object.bind(2, blob.name.attachment)
        let digest = try object.first { try object.digest(0) } ?? .zero
        let update = try prepare(
            """
            UPDATE scopes SET digest = ?2, blob_bytes = blob_bytes - ?3, parcel_bytes = parcel_bytes - (
                SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM edits WHERE scope = ?1 AND object = ?4)
            WHERE id = ?1
            """)
        update.bind(2, (try head.first { try head.digest(0) } ?? .zero) ^ digest)
        update.bind(3, blob.data.byteCount)
        update.bind(4, blob.name.attachment)
        try update.run()
        for (table, column) in [
            ("objects", "id"), ("edits", "object"), ("sweeps", "object"), ("versions", "object"),
            ("blobs", "attachment"),
        ] {
            let delete = try prepare("DELETE FROM \(table) WHERE scope = ?1 AND \(column) = ?2")
            delete.bind(2, blob.name.attachment)
            try delete.run()
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
