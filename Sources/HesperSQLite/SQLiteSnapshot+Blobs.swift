import HesperModel
import HesperStore

extension SQLiteSnapshot {
    func blob(of attachment: UniqueID, in scope: ScopeID) throws -> Blob? {
        let row = try prepare(PushStatements.blob)
        row.bind(1, scope)
        row.bind(2, attachment)
        return try row.first { row.blob(of: attachment, in: scope) }
    }

    func storage(of scope: ScopeID) throws -> Storage {
        let row = try prepare("SELECT parcel_bytes, blob_bytes, quota FROM scopes WHERE id = ?1")
        row.bind(1, scope)
        return try row.first { row.storage() } ?? Storage()
    }

    func blobs(of scope: ScopeID, _ body: (Blob) throws -> Void) throws {
        let row = try prepare(
            "SELECT nonce, byte_count, sha256, arrival_date, attachment FROM blobs WHERE scope = ?1 ORDER BY number")
        row.bind(1, scope)
        try row.eachRow { try body(row.blob(of: try row.id(4), in: scope)) }
    }

    func upload(_ id: UniqueID, in scope: ScopeID) throws -> Upload? {
        let row = try prepare("\(uploadColumns) WHERE scope = ?1 AND id = ?2")
        row.bind(1, scope)
        row.bind(2, id)
        return try row.first { try row.upload() }
    }

    func openUploads(of scope: ScopeID) throws -> [Upload] {
        let row = try prepare("\(uploadColumns) WHERE scope = ?1 AND is_finished = 0")
        row.bind(1, scope)
        return try row.all { try row.upload() }
    }
}

extension SQLiteSnapshot {
    func uploads(before date: Timestamp, limit: Int) throws -> [(scope: ScopeID, upload: Upload)] {
        let row = try prepare(
            """
            SELECT id, attachment, length, sha256, is_finished, creation_date, scope FROM uploads
            WHERE creation_date < ?1 ORDER BY creation_date LIMIT ?2
            """)
        row.bind(1, date)
        row.bind(2, max(limit, 0))
        return try row.all { (ScopeID(row.integer(6)), try row.upload()) }
    }
}

/// The columns that ``Prepared/upload()`` reads.
private let uploadColumns = "SELECT id, attachment, length, sha256, is_finished, creation_date FROM uploads"

extension SQLiteTransaction {
    func forgetRemovedBlob(_ name: BlobName) throws {
        let delete = try prepare("DELETE FROM removed_blobs WHERE scope = ?1 AND attachment = ?2 AND nonce = ?3")
        delete.bind(1, name.scope)
        delete.bind(2, name.attachment)
        delete.bind(3, Int64(bitPattern: name.nonce))
        try delete.run()
    }

    func insert(_ blob: Blob) throws {
        let insert = try prepare(
            """
            INSERT INTO blobs (scope, attachment, nonce, byte_count, sha256, arrival_date, unheld_since)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)
            """)
        insert.bind(1, blob.name.scope)
        insert.bind(2, blob.name.attachment)
        insert.bind(3, Int64(bitPattern: blob.name.nonce))
        insert.bind(4, blob.data.byteCount)
        insert.bind(5, blob.data.sha256)
        insert.bind(6, blob.arrivalDate)
        try insert.run()
        try addBytes(blob.data.byteCount, to: blob.name.scope)
        // A note may have been waiting for it.
        try noteHolder(of: blob.name.attachment, in: blob.name.scope, at: blob.arrivalDate)
    }

    func insert(_ upload: Upload, in scope: ScopeID) throws {
        let insert = try prepare(
            """
            INSERT INTO uploads (scope, id, length, is_finished, attachment, sha256, creation_date)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """)
        insert.bind(5, upload.attachment)
        insert.bind(6, upload.sha256)
        insert.bind(7, upload.creationDate)
        try run(insert, upload, scope)
    }

    func update(_ upload: Upload, in scope: ScopeID) throws {
        try run(
            try prepare("UPDATE uploads SET length = ?3, is_finished = ?4 WHERE scope = ?1 AND id = ?2"), upload, scope)
    }

    private func run(_ statement: Prepared, _ upload: Upload, _ scope: ScopeID) throws {
        statement.bind(1, scope)
        statement.bind(2, upload.uniqueID)
        statement.bind(3, upload.length)
        statement.bind(4, upload.isFinished)
        try statement.run()
    }

    func deleteUpload(_ id: UniqueID, in scope: ScopeID) throws -> Bool {
        let delete = try prepare("DELETE FROM uploads WHERE scope = ?1 AND id = ?2")
        delete.bind(1, scope)
        delete.bind(2, id)
        return try delete.run() > 0
    }

    /// Keeps up whether a note holds an attachment.
    func noteHolder(of attachment: UniqueID, in scope: ScopeID, at date: Timestamp) throws {
        let note = try prepare(PushStatements.noteHolder)
        note.bind(1, scope)
        note.bind(2, attachment)
        note.bind(3, date)
        if try note.run() > 0 { try scheduleSweep(of: attachment, in: scope, at: date) }
    }

    func removeBlob(of attachment: UniqueID, in scope: ScopeID) throws {
        guard let blob = try blob(of: attachment, in: scope) else { return }
        let delete = try prepare("DELETE FROM blobs WHERE scope = ?1 AND attachment = ?2")
        let remember = try prepare("INSERT INTO removed_blobs (scope, attachment, nonce) VALUES (?1, ?2, ?3)")
        for statement in [delete, remember] {
            statement.bind(1, scope)
            statement.bind(2, attachment)
        }
        remember.bind(3, Int64(bitPattern: blob.name.nonce))
        try delete.run()
        try remember.run()
        try addBytes(-blob.data.byteCount, to: scope)
    }

    private func addBytes(_ count: Int64, to scope: ScopeID) throws {
        let update = try prepare("UPDATE scopes SET blob_bytes = blob_bytes + ?2 WHERE id = ?1")
        update.bind(1, scope)
        update.bind(2, count)
        try update.run()
    }
}
