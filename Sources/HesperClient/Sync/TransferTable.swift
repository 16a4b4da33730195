internal import Foundation
internal import GRDB
package import HesperModel

/// The upload or download of the bytes of one attachment.
struct TransferRow: Sendable, Equatable {
    let id: UniqueID
    let isUpload: Bool
    /// The size and hash of the attachment's bytes.
    let data: AttachmentData
    /// The number of bytes that were transferred, for the status.
    var done: Int64 = 0
    /// The path of the resumable upload on the server.
    var location: String?
    /// The number of failures since the last progress.
    var failures = 0
    /// The time of the next attempt after a failure.
    var retryAt = Timestamp(clamping: 0)
    /// The slug of the last problem; nil after progress.
    var problem: String?
}

/// The table of transfers, in the local copy.
///
/// Triggers keep it consistent with the attachments. For a new attachment, they add an upload if `needsBytes` is set, and a
/// download otherwise. They also add an upload when `needsBytes` is set later. When an attachment is deleted, its transfer is
/// deleted too, and its bytes are listed for deletion.
package struct TransferTable {
    private let database: Database

    package init(_ transaction: RecordsTransaction) { database = transaction.database }

    /// The maximum sizes of attachments that are downloaded without a request of the app.
    package struct Policy: Sendable, Equatable {
        /// The maximum size of a picture, in bytes.
        package var pictureBytes: Int64 = 24 << 20
        /// The maximum size of an attachment that is not a picture, in bytes.
        package var otherBytes: Int64 = 4 << 20

        package init() {}
    }

    /// A number of transfers, and the total size of their files in bytes.
    package struct Amount: Sendable, Equatable {
        package var objects = 0
        package var bytes: Int64 = 0

        package init(objects: Int = 0, bytes: Int64 = 0) {
            self.objects = objects
            self.bytes = bytes
        }
    }

    /// The SQL expressions for the values of a transfer, computed from the row of its attachment.
    private static func columns(_ prefix: String) -> String {
        """
        \(prefix)id, coalesce(\(prefix)pending ->> '$.needsBytes', 0), coalesce(\(prefix)body ->> '$.byteCount', 0),
        coalesce(\(prefix)body ->> '$.sha256', ''), coalesce(\(prefix)body ->> '$.mimeType', '') LIKE 'image/%'
        """
    }

    /// Creates the table and its triggers, and adds transfers for all attachments of the local copy. Does nothing if the table
    /// exists.
    static func create(_ transaction: RecordsTransaction) throws {
        try transaction.addType(TypeName.attachment)
        let database = transaction.database
        guard try !database.tableExists("transfers") else { return }
        let attachments = LocalDatabase.table(TypeName.attachment)
        try database.execute(
            sql: """
                CREATE TABLE transfers (
                    row INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, isUpload INTEGER NOT NULL,
                    byteCount INTEGER NOT NULL, sha256 TEXT NOT NULL, isPicture INTEGER NOT NULL,
                    done INTEGER NOT NULL DEFAULT 0, wanted INTEGER NOT NULL DEFAULT 0, location TEXT,
                    failures INTEGER NOT NULL DEFAULT 0, retryAt INTEGER NOT NULL DEFAULT 0, problem TEXT);
                CREATE INDEX transfers_order ON transfers (isUpload, wanted DESC, row);
                CREATE TABLE unneededBytes (id BLOB PRIMARY KEY);
                CREATE TRIGGER transfers_insert AFTER INSERT ON \(attachments) BEGIN
                    INSERT OR IGNORE INTO transfers (id, isUpload, byteCount, sha256, isPicture)
                    VALUES (\(columns("new.")));
                    DELETE FROM unneededBytes WHERE id = new.id;
                END;
                CREATE TRIGGER transfers_update AFTER UPDATE OF pending ON \(attachments)
                WHEN new.pending ->> '$.needsBytes' AND old.pending ->> '$.needsBytes' IS NULL BEGIN
                    INSERT OR REPLACE INTO transfers (id, isUpload, byteCount, sha256, isPicture)
                    VALUES (\(columns("new.")));
                END;
                CREATE TRIGGER transfers_delete AFTER DELETE ON \(attachments) BEGIN
                    DELETE FROM transfers WHERE id = old.id;
                    INSERT OR IGNORE INTO unneededBytes VALUES (old.id);
                END;
                INSERT INTO transfers (id, isUpload, byteCount, sha256, isPicture)
                    SELECT \(columns("")) FROM \(attachments) ORDER BY row;
                """)
    }

    /// Schedules downloads for attachments whose files are missing. The database file may have been copied without these files.
    package static func replaceMissing(_ transaction: RecordsTransaction, _ files: any AttachmentFiles) throws {
        try create(transaction)
        let database = transaction.database
        for row in try Row.fetchAll(database, sql: "SELECT id, file FROM bytes ORDER BY id") {
            let (id, file) = (row[0] as Data, row[1] as Data)
            if let name = UniqueID(bytes: file), try files.file(name)?.isFinished == true { continue }
            try database.execute(sql: "DELETE FROM bytes WHERE id = ?", arguments: [id])
            try TransferTable(transaction).add(id)
        }
    }

    /// Adds a transfer for an attachment if the attachment has none.
    private func add(_ id: Data) throws {
        try database.execute(
            sql: """
                INSERT OR IGNORE INTO transfers (id, isUpload, byteCount, sha256, isPicture)
                SELECT \(TransferTable.columns("")) FROM \(LocalDatabase.table(TypeName.attachment)) WHERE id = ?
                """, arguments: [id])
    }

    // MARK: For the app

    /// Schedules the download of an attachment before all other downloads, even if it is large. Does nothing if the attachment
    /// need not be downloaded.
    package func want(_ id: UniqueID) throws {
        try database.execute(
            sql: """
                UPDATE transfers SET wanted = (SELECT max(wanted) + 1 FROM transfers), retryAt = 0
                WHERE id = ? AND NOT isUpload
                """, arguments: [Data(id.bytes)])
    }

    // MARK: For TransferCore

    /// Whether there is something to transfer, or a file to delete.
    package static func hasWork(_ transaction: RecordsTransaction) throws -> Bool {
        guard try transaction.database.tableExists("transfers") else { return true }
        let sql = "SELECT EXISTS (SELECT 1 FROM transfers) OR EXISTS (SELECT 1 FROM unneededBytes)"
        return try Bool.fetchOne(transaction.database.cachedStatement(sql: sql)) ?? true
    }

    /// Whether there is nothing to transfer.
    var isEmpty: Bool {
        get throws {
            let statement = try database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM transfers)")
            return try Bool.fetchOne(statement) == false
        }
    }

    /// The next transfer in one direction, among those that do not wait for a retry; nil if there is none.
    /// - Parameter isWanted: whether to consider only transfers that the app requested.
    func next(isUpload: Bool, isWanted: Bool = false, at now: Timestamp, _ policy: Policy) throws -> TransferRow? {
        let sql = """
            SELECT * FROM transfers
            WHERE isUpload = :isUpload AND retryAt <= :now AND \(isWanted ? "wanted > 0" : TransferTable.isNeeded)
            ORDER BY wanted DESC, row LIMIT 1
            """
        var arguments: StatementArguments = ["isUpload": isUpload, "now": now.milliseconds]
        if !isWanted { arguments += self.arguments(policy) }
        return try Row.fetchOne(database.cachedStatement(sql: sql), arguments: arguments).map(TransferRow.init)
    }

    func row(_ id: UniqueID) throws -> TransferRow? {
        let statement = try database.cachedStatement(sql: "SELECT * FROM transfers WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [Data(id.bytes)]).map(TransferRow.init)
    }

    func save(_ row: TransferRow) throws {
        try database.cachedStatement(
            sql: "UPDATE transfers SET done = ?, location = ?, failures = ?, retryAt = ?, problem = ? WHERE id = ?"
        ).execute(arguments: [
            row.done, row.location, row.failures, row.retryAt.milliseconds, row.problem,
            Data(row.id.bytes),
        ])
    }

    /// Adds the download of an attachment whose file is missing on this device. The server has the bytes if another device with a
    /// copy of the database file uploaded them.
    func download(_ id: UniqueID) throws { try add(Data(id.bytes)) }

    func remove(_ id: UniqueID) throws {
        try database.cachedStatement(sql: "DELETE FROM transfers WHERE id = ?").execute(arguments: [Data(id.bytes)])
    }

    /// Schedules an immediate retry of all waiting transfers.
    func retryAll() throws {
        try database.execute(
            sql: "UPDATE transfers SET retryAt = 0, failures = 0 WHERE retryAt <> 0")
    }

    /// Schedules an immediate retry of the transfers whose next attempt is later than `moment`.
    func retry(after moment: Timestamp) throws {
        try database.execute(
            sql: "UPDATE transfers SET retryAt = 0 WHERE retryAt > ?", arguments: [moment.milliseconds])
    }

    /// The earliest time at which a transfer in this direction may be attempted; 0 if one of the transfers does not wait for a
    /// retry. Nil if there is nothing to transfer in this direction.
    func nextRetry(isUpload: Bool, _ policy: Policy) throws -> Timestamp? {
        let sql = """
            SELECT min(retryAt) FROM transfers WHERE isUpload = :isUpload AND \(TransferTable.isNeeded)
            """
        var arguments = arguments(policy)
        arguments += ["isUpload": isUpload]
        let moment = try Int64.fetchOne(database.cachedStatement(sql: sql), arguments: arguments)
        return moment.map(Timestamp.init(clamping:))
    }

    /// The number and total size of the remaining transfers in one direction.
    func amount(isUpload: Bool, _ policy: Policy) throws -> Amount {
        let sql = """
            SELECT count(*), coalesce(sum(byteCount - done), 0) FROM transfers
            WHERE isUpload = :isUpload AND \(TransferTable.isNeeded)
            """
        var arguments = arguments(policy)
        arguments += ["isUpload": isUpload]
        let row = try Row.fetchOne(database.cachedStatement(sql: sql), arguments: arguments)
        return row.map { Amount(objects: $0[0], bytes: $0[1]) } ?? Amount()
    }

    /// Whether there is a transfer whose last problem has this slug.
    func isWaiting(for problem: String) throws -> Bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM transfers WHERE problem = ?)"
        let isWaiting = try Bool.fetchOne(
            database.cachedStatement(sql: sql), arguments: [problem])
        return isWaiting ?? false
    }

    /// Removes deleted attachments from the tables `unneededBytes` and `bytes`. The caller then deletes the returned files.
    /// - Returns: the names of the files that no attachment uses any more.
    func takeUnneededFiles() throws -> [UniqueID] {
        let ids = try Data.fetchAll(
            database.cachedStatement(sql: "SELECT id FROM unneededBytes ORDER BY id"))
        guard !ids.isEmpty else { return [] }
        try database.execute(sql: "DELETE FROM unneededBytes")
        var files: [UniqueID] = []
        for id in ids {
            let file = try Data.fetchOne(database, sql: "SELECT file FROM bytes WHERE id = ?", arguments: [id]) ?? id
            try database.execute(sql: "DELETE FROM bytes WHERE id = ?", arguments: [id])
            let sql = "SELECT EXISTS (SELECT 1 FROM bytes WHERE file = ?)"
            if try Bool.fetchOne(database, sql: sql, arguments: [file]) == false, let name = UniqueID(bytes: file) {
                files.append(name)
            }
        }
        return files
    }

    /// The SQL condition for transfers that must be carried out: uploads, downloads that the app requested, and downloads that are
    /// small enough to be carried out without a request of the app.
    private static let isNeeded = """
        (isUpload OR wanted > 0 OR byteCount <= CASE WHEN isPicture THEN :pictureBytes ELSE :otherBytes END)
        """

    private func arguments(_ policy: Policy) -> StatementArguments {
        ["pictureBytes": policy.pictureBytes, "otherBytes": policy.otherBytes]
    }
}

extension TransferRow {
    fileprivate init(_ row: Row) throws {
        guard let id = UniqueID(bytes: row["id"] as Data) else {
            throw LocalDatabaseError.damaged("a transfer has no ID")
        }
        self.init(
            id: id, isUpload: row["isUpload"], data: AttachmentData(byteCount: row["byteCount"], sha256: row["sha256"]),
            done: row["done"], location: row["location"], failures: row["failures"],
            retryAt: Timestamp(clamping: row["retryAt"]), problem: row["problem"])
    }
}
