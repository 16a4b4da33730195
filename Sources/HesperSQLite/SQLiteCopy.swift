import GRDB
import HesperModel
import HesperStore

/// A copy of a database in a file, for a backup or a restore. No server has this file open.
public struct SQLiteCopy: Sendable {
    private let path: String

    /// - Parameter path: a file that ``SQLiteStore/copy(to:)`` wrote.
    public init(path: String) { self.path = path }

    /// The tables that a restore empties, because tickets, unfinished uploads, imports and the sessions of devices are invalid
    /// after a restore.
    private static let ended = ["devices", "tickets", "uploads", "imports"]

    /// Reads the blobs of all accounts, in order of arrival.
    public func blobs() throws -> [Blob] {
        try reading { database in
            let row = try PreparedStatement(
                "SELECT nonce, byte_count, sha256, arrival_date, attachment, scope FROM blobs ORDER BY number",
                on: database)
            return try row.all { row.blob(of: try row.id(4), in: ScopeID(row.integer(5))) }
        }
    }

    /// The number of accounts in the copy.
    public func accountCount() throws -> Int {
        try reading { try Int.fetchOne($0, sql: "SELECT count(*) FROM accounts") ?? 0 }
    }

    /// The result of inspecting the copy.
    public struct Report: Sendable {
        public var accounts = 0
        /// Whether each object was compared with the result of folding its edits.
        public var isFolded = false
        /// The inconsistencies, as sentences: at most ``SQLiteCopy/findingLimit`` findings of SQLite's integrity check, and then
        /// the findings that `hesper check` would report.
        public var findings: [String] = []
    }

    /// The maximum number of findings of SQLite's integrity check in a report.
    static let findingLimit = 20

    /// Inspects the whole copy. Runs SQLite's integrity check, then folds the edits of every account again and compares the
    /// results with the objects. The second step is omitted for a copy that an earlier version wrote, because this version can
    /// read its tables only after a migration.
    /// - Throws: ``StoreError``: `newerDatabase` if a later version of Hesper wrote the copy, `damaged` if it cannot be read.
    public func inspect() throws -> Report {
        try reading { database in
            let (version, known) = (try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0, Migrations.version)
            guard version <= known else { throw StoreError.newerDatabase(version: version, known: known) }
            var report = Report()
            report.findings = try String.fetchAll(
                database, sql: "PRAGMA integrity_check(\(SQLiteCopy.findingLimit))"
            ).filter { $0 != "ok" }.map { "SQLite reports: \($0)" }
            let accounts = try Row.fetchAll(
                database,
                sql: """
                    SELECT a.email, m.scope FROM accounts a JOIN memberships m ON m.account = a.id ORDER BY a.email_key
                    """)
            report.accounts = accounts.count
            report.isFolded = version == known
            guard report.isFolded else { return report }
            for account in accounts {
                let (email, scope): (String, Int64) = (account[0], account[1])
                try SQLiteSnapshot(database).inconsistencies(in: ScopeID(scope)) {
                    report.findings.append("\(email): \($0)")
                }
            }
            return report
        }
    }

    /// Prepares the copy for use as a restored database (operating.md, Restoring): migrates it to this version, starts a new
    /// epoch, and signs out every device. SQLite overwrites the removed rows.
    /// - Parameter lost: blobs that could not be restored. Their attachments are removed too, because every attachment must have
    ///   its bytes. If a device still has such an attachment, the device pushes the attachment and its bytes again.
    /// - Throws: ``StoreError``: `newerDatabase` if a later version of Hesper wrote the copy.
    public func beginNewEpoch(forgetting lost: [Blob] = []) throws {
        try mappingErrors {
            let queue = try DatabaseQueue(path: path)
            try queue.inDatabase { database in
                try Migrations.run(on: database)
                try database.execute(sql: "PRAGMA secure_delete = ON")
                try database.inTransaction {
                    for blob in lost { try SQLiteCopy.forget(blob, in: database) }
                    for table in SQLiteCopy.ended { try database.execute(sql: "DELETE FROM \(table)") }
                    try database.execute(sql: "UPDATE scopes SET restored_sequence = sequence")
                    // Forget the nonces of the marker, a file that assigns the blob store to a database. If there is no marker,
                    // the server writes one, as with a new database. If there is a marker, the database does not know its nonce,
                    // so the server removes no attachments.
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
        let (scope, attachment) = (blob.name.scope, blob.name.attachment)
        let head = try PreparedStatement("SELECT digest FROM scopes WHERE id = ?1", on: database)
        head.bind(scope)
        let object = try PreparedStatement("SELECT digest FROM objects WHERE scope = ?1 AND id = ?2", on: database)
        object.bind(scope, attachment)
        let digest = try object.first { try object.digest(0) } ?? .zero
        let update = try PreparedStatement(
            """
            UPDATE scopes SET digest = ?2, blob_bytes = blob_bytes - ?3, parcel_bytes = parcel_bytes - (
                SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM edits WHERE scope = ?1 AND object = ?4)
            WHERE id = ?1
            """, on: database)
        let rest = (try head.first { try head.digest(0) } ?? .zero) ^ digest
        update.bind(scope, rest, blob.data.byteCount, attachment)
        try update.run()
        for (table, column) in [
            ("objects", "id"), ("edits", "object"), ("sweeps", "object"), ("versions", "object"),
            ("blobs", "attachment"),
        ] {
            let delete = try PreparedStatement(
                "DELETE FROM \(table) WHERE scope = ?1 AND \(column) = ?2", on: database)
            delete.bind(scope, attachment)
            try delete.run()
        }
    }

    private func reading<T>(_ body: (Database) throws -> T) throws -> T {
        var configuration = Configuration()
        configuration.readonly = true
        return try mappingErrors {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let result = try queue.inDatabase(body)
            try queue.close()
            return result
        }
    }
}
