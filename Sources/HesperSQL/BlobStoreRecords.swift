import HesperModel
import HesperStore

extension SQLSnapshot {
    public func blobStoreRecord() throws -> BlobStoreRecord {
        let record = try sql.first(
            """
            SELECT current_nonce, next_nonce, accepted_unknown, walk_date, files, bytes, unknown_files, unknown_bytes
            FROM blob_store WHERE \(sql.dialect.isTrue("one"))\(rowLock(on: "blob_store"))
            """, []
        ) { $0.blobStoreRecord() }
        guard let record else { throw StoreError.damaged("the table blob_store is empty") }
        return record
    }

    public func isEmpty() throws -> Bool {
        try sql.first(
            """
            SELECT EXISTS (SELECT 1 FROM scopes WHERE id > 0) OR EXISTS (SELECT 1 FROM removed_blobs WHERE scope > 0)
            """, []
        ) { !$0.bool(0) } ?? true
    }

    public func isKnown(_ name: BlobName) throws -> Bool {
        try sql.first(
            """
            SELECT EXISTS (SELECT 1 FROM blobs WHERE scope = $1 AND attachment = $2 AND nonce = $3)
                OR EXISTS (SELECT 1 FROM removed_blobs WHERE scope = $1 AND attachment = $2 AND nonce = $3)
            """, name.key
        ) { $0.bool(0) } ?? false
    }

    public func unknownBlobs() throws -> [BlobName: Timestamp] {
        let blobs = try sql.all(
            """
            SELECT scope, attachment, nonce, first_seen FROM unknown_blobs WHERE scope > 0
            ORDER BY scope, attachment, nonce LIMIT $1
            """, [.limit(Sweep.unknownLimit)]
        ) { row in (try row.blobName(), row.timestamp(3)) }
        return Dictionary(uniqueKeysWithValues: blobs)
    }
}

extension SQLTransaction {
    public func set(_ record: BlobStoreRecord) throws {
        try sql.enqueue(
            """
            UPDATE blob_store SET current_nonce = $1, next_nonce = $2, accepted_unknown = $3, walk_date = $4, files = $5,
                bytes = $6, unknown_files = $7, unknown_bytes = $8
            WHERE \(sql.dialect.isTrue("one"))
            """,
            [
                .integer(record.currentNonce.map { Int64(bitPattern: $0) }),
                .integer(record.nextNonce.map { Int64(bitPattern: $0) }), .int(record.acceptedUnknown),
                .date(record.walk?.date), .int(record.walk?.files ?? 0), .integer(record.walk?.bytes ?? 0),
                .int(record.walk?.unknownFiles ?? 0), .integer(record.walk?.unknownBytes ?? 0),
            ], expecting: 1)
    }

    public func recordUnknownBlob(_ name: BlobName, seenAt date: Timestamp) throws {
        try sql.enqueue(
            """
            INSERT INTO unknown_blobs (scope, attachment, nonce, first_seen) VALUES ($1, $2, $3, $4)
            ON CONFLICT DO NOTHING
            """, name.key + [.date(date)])
    }

    public func forgetUnknownBlob(_ name: BlobName) throws {
        try sql.enqueue("DELETE FROM unknown_blobs WHERE scope = $1 AND attachment = $2 AND nonce = $3", name.key)
    }
}
