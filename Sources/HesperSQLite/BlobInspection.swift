import HesperModel
import HesperStore

/// Compares what is known of the bytes of attachments with the attachments themselves. Whether the bytes are there, only the
/// blob store can tell.
struct BlobInspection {
    let snapshot: SQLiteSnapshot
    let scope: ScopeID
    let report: (String) -> Void

    func inspect() throws {
        var byteCount: Int64 = 0
        let rows = try bound("SELECT attachment, byte_count, sha256, unheld_since FROM blobs WHERE scope = ?1")
        try rows.eachRow {
            let id = try rows.id(0)
            byteCount += rows.integer(1)
            try inspect(AttachmentData(byteCount: rows.integer(1), sha256: rows.string(2)), of: id)
            if try isHeld(id) != rows.isNull(3) {
                report("Whether a note holds attachment \(id) is not what its bytes are kept for.")
            }
        }
        if try snapshot.blobBytes(of: scope) != byteCount {
            report("The bytes of all attachments are \(byteCount), but the quota counts another number.")
        }
        let attachments = try bound(
            """
            SELECT o.id FROM objects o WHERE o.scope = ?1 AND o.type = 'attachment' AND o.sequence IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.scope = o.scope AND b.attachment = o.id)
            """)
        try attachments.eachRow { report("Attachment \(try attachments.id(0)) is there, but no bytes of it.") }
    }

    private func inspect(_ data: AttachmentData, of id: UniqueID) throws {
        switch try? snapshot.state(of: id, in: scope) {
        case .entity(.attachment(let attachment), _?)?:
            if attachment[.byteCount] != .integer(data.byteCount) || attachment[.sha256] != .string(data.sha256) {
                report("Attachment \(id) says that its bytes are others than those that are here.")
            }
        case .deleted?: report("Attachment \(id) is deleted, but its bytes are not.")
        default: break
        }
    }

    private func isHeld(_ id: UniqueID) throws -> Bool {
        let row = try bound(PushStatements.holders)
        row.bind(2, id)
        return try row.first { true } ?? false
    }

    private func bound(_ sql: String) throws -> Prepared {
        let rows = try snapshot.prepare(sql)
        rows.bind(1, scope)
        return rows
    }
}
