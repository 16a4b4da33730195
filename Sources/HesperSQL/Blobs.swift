import HesperModel
import HesperStore

/// The SELECT and FROM clauses of a query for blobs. ``HesperStore/StoredRow/blob(of:in:)`` decodes the first four columns.
private let columns = "SELECT nonce, byte_count, sha256, arrival_date, unheld_since, attachment FROM blobs"

extension SQLSnapshot {
    public func blob(of attachment: UniqueID, in scope: ScopeID) throws -> Blob? {
        try sql.first("\(columns) WHERE scope = $1 AND attachment = $2", [.scope(scope), .id(attachment)]) { row in
            row.blob(of: attachment, in: scope)
        }
    }

    public func unheldDate(of attachment: UniqueID, in scope: ScopeID) throws -> Timestamp? {
        try sql.first("\(columns) WHERE scope = $1 AND attachment = $2", [.scope(scope), .id(attachment)]) {
            $0.timestampIfAny(4)
        }
    }

    public func blobs(of scope: ScopeID, _ body: (Blob) throws -> Void) throws {
        try sql.each("\(columns) WHERE scope = $1 ORDER BY number", [.scope(scope)]) { row in
            try body(row.blob(of: try row.id(5), in: scope))
        }
    }

    public func storage(of scope: ScopeID) throws -> Storage {
        try sql.first("SELECT parcel_bytes, blob_bytes, quota FROM scopes WHERE id = $1", [.scope(scope)]) {
            $0.storage()
        } ?? Storage()
    }

    public func removedBlobs(limit: Int) throws -> [BlobName] {
        try sql.all(
            """
            SELECT scope, attachment, nonce FROM removed_blobs WHERE scope > 0
            ORDER BY scope, attachment, nonce LIMIT $1
            """, [.limit(limit)]
        ) { try $0.blobName() }
    }
}

extension SQLTransaction {
    public func insert(_ blob: Blob) throws {
        let scope = blob.name.scope
        try lockExisting(scope)
        try sql.enqueue(
            """
            INSERT INTO blobs (scope, attachment, nonce, byte_count, sha256, arrival_date, unheld_since)
            VALUES ($1, $2, $3, $4, $5, $6, $6)
            """,
            blob.name.key + [.integer(blob.data.byteCount), .text(blob.data.sha256), .date(blob.arrivalDate)],
            expecting: 1)
        try addBlobBytes(blob.data.byteCount, to: scope)
        // The INSERT statement assumes that no note has the attachment. If a note already has the attachment, the following call
        // corrects `unheld_since`.
        try updateUnheldDates(of: [blob.name.attachment], in: scope, at: blob.arrivalDate)
    }

    /// Adds `count` to the recorded total size of a scope's blobs, in bytes.
    public func addBlobBytes(_ count: Int64, to scope: ScopeID) throws {
        try sql.enqueue(
            "UPDATE scopes SET blob_bytes = blob_bytes + $2 WHERE id = $1", [.scope(scope), .integer(count)],
            expecting: 1)
    }

    public func forgetRemovedBlob(_ name: BlobName) throws {
        try sql.enqueue("DELETE FROM removed_blobs WHERE scope = $1 AND attachment = $2 AND nonce = $3", name.key)
    }
}

// MARK: - Uploads

/// The SELECT and FROM clauses of a query for uploads. ``HesperStore/StoredRow/upload()`` decodes all columns except the last, the
/// scope.
private let uploadColumns = "SELECT id, attachment, length, sha256, is_finished, creation_date, scope FROM uploads"

extension SQLSnapshot {
    public func upload(_ id: UniqueID, in scope: ScopeID) throws -> Upload? {
        try sql.first("\(uploadColumns) WHERE scope = $1 AND id = $2", [.scope(scope), .id(id)]) { try $0.upload() }
    }

    public func openUploads(of scope: ScopeID) throws -> [Upload] {
        try sql.all("\(uploadColumns) WHERE scope = $1 AND NOT is_finished", [.scope(scope)]) { try $0.upload() }
    }

    public func uploads(before date: Timestamp, limit: Int) throws -> [(scope: ScopeID, upload: Upload)] {
        try sql.all(
            "\(uploadColumns)\nWHERE creation_date < $1 ORDER BY creation_date LIMIT $2", [.date(date), .limit(limit)]
        ) { row in (row.scope(6), try row.upload()) }
    }
}

extension SQLTransaction {
    public func insert(_ upload: Upload, in scope: ScopeID) throws {
        try lockExisting(scope)
        try sql.enqueue(
            """
            INSERT INTO uploads (scope, id, length, is_finished, attachment, sha256, creation_date)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            """,
            [
                .scope(scope), .id(upload.uniqueID), .integer(upload.length), .bool(upload.isFinished),
                .id(upload.attachment), .text(upload.sha256), .date(upload.creationDate),
            ], expecting: 1)
    }

    public func update(_ upload: Upload, in scope: ScopeID) throws {
        try sql.enqueue(
            "UPDATE uploads SET length = $3, is_finished = $4 WHERE scope = $1 AND id = $2",
            [.scope(scope), .id(upload.uniqueID), .integer(upload.length), .bool(upload.isFinished)])
    }

    public func deleteUpload(_ id: UniqueID, in scope: ScopeID) throws -> Bool {
        try sql.run("DELETE FROM uploads WHERE scope = $1 AND id = $2", [.scope(scope), .id(id)]) > 0
    }
}

extension BlobName {
    /// The parameters `$1`, `$2` and `$3` of a statement about a single blob: the scope, the attachment and the nonce.
    var key: [SQLValue] { [.scope(scope), .id(attachment), .integer(Int64(bitPattern: nonce))] }
}
