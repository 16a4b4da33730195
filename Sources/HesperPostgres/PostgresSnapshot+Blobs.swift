import HesperModel
import HesperStore

extension PostgresSnapshot {
    func blob(of attachment: UniqueID, in scope: ScopeID) throws -> Blob? {
        try connection.first(PushStatements.blob, [.scope(scope), .id(attachment)]) { row in
            row.blob(of: attachment, in: scope)
        }
    }

    func storage(of scope: ScopeID) throws -> Storage {
        try connection.first("SELECT parcel_bytes, blob_bytes, quota FROM scopes WHERE id = $1", [.scope(scope)]) {
            $0.storage()
        } ?? Storage()
    }

    func blobs(of scope: ScopeID, _ body: (Blob) throws -> Void) throws {
        try connection.scan(
            "SELECT nonce, byte_count, sha256, arrival_date, attachment FROM blobs WHERE scope = $1 ORDER BY number",
            [.scope(scope)]
        ) { row in
            try body(row.blob(of: try row.id(4), in: scope))
            return true
        }
    }

    func upload(_ id: UniqueID, in scope: ScopeID) throws -> Upload? {
        try connection.first("\(uploadColumns) WHERE scope = $1 AND id = $2", [.scope(scope), .id(id)]) {
            try $0.upload()
        }
    }

    func openUploads(of scope: ScopeID) throws -> [Upload] {
        try connection.all("\(uploadColumns) WHERE scope = $1 AND NOT is_finished", [.scope(scope)]) {
            try $0.upload()
        }
    }

    func uploads(before date: Timestamp, limit: Int) throws -> [(scope: ScopeID, upload: Upload)] {
        try connection.all(
            """
            SELECT id, attachment, length, sha256, is_finished, creation_date, scope FROM uploads
            WHERE creation_date < $1 ORDER BY creation_date LIMIT $2
            """, [.date(date), .int(max(limit, 0))]
        ) { row in (row.scope(6), try row.upload()) }
    }
}

/// The columns that ``Row/upload()`` reads.
private let uploadColumns = "SELECT id, attachment, length, sha256, is_finished, creation_date FROM uploads"

extension PostgresTransaction {
    func forgetRemovedBlob(_ name: BlobName) throws {
        connection.enqueue(
            "DELETE FROM removed_blobs WHERE scope = $1 AND attachment = $2 AND nonce = $3",
            [.scope(name.scope), .id(name.attachment), .int8(Int64(bitPattern: name.nonce))])
    }

    func insert(_ blob: Blob) throws {
        let scope = blob.name.scope
        try holdKnown(scope)
        connection.enqueue(
            """
            INSERT INTO blobs (scope, attachment, nonce, byte_count, sha256, arrival_date, unheld_since)
            VALUES ($1, $2, $3, $4, $5, $6, $6)
            """,
            [
                .scope(scope), .id(blob.name.attachment), .int8(Int64(bitPattern: blob.name.nonce)),
                .int8(blob.data.byteCount), .text(blob.data.sha256), .date(blob.arrivalDate),
            ], expecting: 1)
        connection.enqueue(
            "UPDATE scopes SET blob_bytes = blob_bytes + $2 WHERE id = $1",
            [.scope(scope), .int8(blob.data.byteCount)], expecting: 1)
        // A note may have been waiting for it.
        ScopeWriter(connection: connection, scope: scope, device: nil, date: blob.arrivalDate)
            .holders(of: [blob.name.attachment])
    }

    func insert(_ upload: Upload, in scope: ScopeID) throws {
        try holdKnown(scope)
        connection.enqueue(
            """
            INSERT INTO uploads (scope, id, length, is_finished, attachment, sha256, creation_date)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            """,
            [
                .scope(scope), .id(upload.uniqueID), .int8(upload.length), .bool(upload.isFinished),
                .id(upload.attachment), .text(upload.sha256), .date(upload.creationDate),
            ], expecting: 1)
    }

    func update(_ upload: Upload, in scope: ScopeID) throws {
        connection.enqueue(
            "UPDATE uploads SET length = $3, is_finished = $4 WHERE scope = $1 AND id = $2",
            [.scope(scope), .id(upload.uniqueID), .int8(upload.length), .bool(upload.isFinished)])
    }

    func deleteUpload(_ id: UniqueID, in scope: ScopeID) throws -> Bool {
        try connection.run("DELETE FROM uploads WHERE scope = $1 AND id = $2", [.scope(scope), .id(id)]) > 0
    }

    func removeBlob(of attachment: UniqueID, in scope: ScopeID) throws {
        guard try hold(scope) else { return }
        connection.enqueue(PushStatements.removeBlobs, [.scope(scope), .uuidArray([attachment])])
    }
}
