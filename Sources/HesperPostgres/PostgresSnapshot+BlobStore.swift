import HesperModel
import HesperStore

extension PostgresSnapshot {
    func blobStoreRecord() throws -> BlobStoreRecord {
        let record = try connection.first(
            """
            SELECT current_nonce, next_nonce, accepted_unknown, walk_date, files, bytes, unknown_files, unknown_bytes
            FROM blob_store\(blobStoreLock)
            """
        ) { $0.blobStoreRecord() }
        guard let record else { throw StoreError.damaged("the table blob_store is empty") }
        return record
    }

    func isEmpty() throws -> Bool {
        try connection.first(
            """
            SELECT EXISTS (SELECT FROM scopes WHERE id > 0) OR EXISTS (SELECT FROM removed_blobs WHERE scope > 0)
            """
        ) { !$0.bool(0) } ?? true
    }

    func isKnown(_ name: BlobName) throws -> Bool {
        try connection.first(
            """
            SELECT EXISTS (SELECT FROM blobs WHERE scope = $1 AND attachment = $2 AND nonce = $3)
                OR EXISTS (SELECT FROM removed_blobs WHERE scope = $1 AND attachment = $2 AND nonce = $3)
            """, name.key
        ) { $0.bool(0) } ?? false
    }

    func unknownBlobs() throws -> [BlobName: Timestamp] {
        let blobs = try connection.all(
            """
            SELECT scope, attachment, nonce, first_seen FROM unknown_blobs WHERE scope > 0
            ORDER BY scope, attachment, nonce LIMIT $1
            """, [.int(Sweep.unknownLimit)]
        ) { row in (try row.blobName(), row.timestamp(3)) }
        return Dictionary(uniqueKeysWithValues: blobs)
    }
}

extension PostgresTransaction {
    func set(_ record: BlobStoreRecord) throws {
        connection.enqueue(
            """
            UPDATE blob_store SET current_nonce = $1, next_nonce = $2, accepted_unknown = $3, walk_date = $4, files = $5,
                bytes = $6, unknown_files = $7, unknown_bytes = $8
            """,
            [
                .int8(record.currentNonce.map { Int64(bitPattern: $0) }),
                .int8(record.nextNonce.map { Int64(bitPattern: $0) }), .int(record.acceptedUnknown),
                .date(record.walk?.date), .int(record.walk?.files ?? 0), .int8(record.walk?.bytes ?? 0),
                .int(record.walk?.unknownFiles ?? 0), .int8(record.walk?.unknownBytes ?? 0),
            ], expecting: 1)
    }

    func recordUnknownBlob(_ name: BlobName, seenAt date: Timestamp) throws {
        connection.enqueue(
            """
            INSERT INTO unknown_blobs (scope, attachment, nonce, first_seen) VALUES ($1, $2, $3, $4)
            ON CONFLICT DO NOTHING
            """, name.key + [.date(date)])
    }

    func forgetUnknownBlob(_ name: BlobName) throws {
        connection.enqueue(
            "DELETE FROM unknown_blobs WHERE scope = $1 AND attachment = $2 AND nonce = $3", name.key)
    }
}

extension BlobName {
    fileprivate var key: [PostgresValue] { [.scope(scope), .id(attachment), .int8(Int64(bitPattern: nonce))] }
}
