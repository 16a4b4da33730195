import HesperModel
import HesperStore

extension SQLiteSnapshot {
    func blobStoreRecord() throws -> BlobStoreRecord {
        let row = try prepare(
            """
            SELECT current_nonce, next_nonce, accepted_unknown, walk_date, files, bytes, unknown_files, unknown_bytes
            FROM blob_store WHERE one = 1
            """)
        let record = try row.first { row.blobStoreRecord() }
        guard let record else { throw StoreError.damaged("the table blob_store is empty") }
        return record
    }

    func isEmpty() throws -> Bool {
        let row = try prepare(
            """
            SELECT EXISTS (SELECT 1 FROM scopes WHERE id > 0) OR EXISTS (SELECT 1 FROM removed_blobs WHERE scope > 0)
            """)
        return try row.first { !row.bool(0) } ?? true
    }

    func isKnown(_ name: BlobName) throws -> Bool {
        let row = try prepare(
            """
            SELECT EXISTS (SELECT 1 FROM blobs WHERE scope = ?1 AND attachment = ?2 AND nonce = ?3)
                OR EXISTS (SELECT 1 FROM removed_blobs WHERE scope = ?1 AND attachment = ?2 AND nonce = ?3)
            """)
        row.bind(name)
        return try row.first { row.bool(0) } ?? false
    }

    func unknownBlobs() throws -> [BlobName: Timestamp] {
        let row = try prepare(
            "SELECT scope, attachment, nonce, first_seen FROM unknown_blobs WHERE scope > 0 LIMIT ?1")
        row.bind(1, Sweep.unknownLimit)
        let blobs = try row.all { (try row.blobName(), row.timestamp(3)) }
        return Dictionary(uniqueKeysWithValues: blobs)
    }
}

extension SQLiteTransaction {
    func set(_ record: BlobStoreRecord) throws {
        let update = try prepare(
            """
            UPDATE blob_store SET current_nonce = ?1, next_nonce = ?2, accepted_unknown = ?3, walk_date = ?4, files = ?5,
                bytes = ?6, unknown_files = ?7, unknown_bytes = ?8
            WHERE one = 1
            """)
        update.bind(1, record.currentNonce.map { Int64(bitPattern: $0) })
        update.bind(2, record.nextNonce.map { Int64(bitPattern: $0) })
        update.bind(3, record.acceptedUnknown)
        update.bind(4, record.walk?.date)
        update.bind(5, record.walk?.files ?? 0)
        update.bind(6, record.walk?.bytes ?? 0)
        update.bind(7, record.walk?.unknownFiles ?? 0)
        update.bind(8, record.walk?.unknownBytes ?? 0)
        try update.run()
    }

    func recordUnknownBlob(_ name: BlobName, seenAt date: Timestamp) throws {
        let insert = try prepare(
            "INSERT OR IGNORE INTO unknown_blobs (scope, attachment, nonce, first_seen) VALUES (?1, ?2, ?3, ?4)")
        insert.bind(name)
        insert.bind(4, date)
        try insert.run()
    }

    func forgetUnknownBlob(_ name: BlobName) throws {
        let delete = try prepare("DELETE FROM unknown_blobs WHERE scope = ?1 AND attachment = ?2 AND nonce = ?3")
        delete.bind(name)
        try delete.run()
    }
}

extension Prepared {
    /// As the first three parameters.
    fileprivate func bind(_ name: BlobName) {
        bind(1, name.scope)
        bind(2, name.attachment)
        bind(3, Int64(bitPattern: name.nonce))
    }
}
