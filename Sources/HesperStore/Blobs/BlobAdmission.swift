import HesperModel

/// Checks whether bytes may be stored for an attachment. The check is made before an upload and again after it.
public struct BlobAdmission: Sendable {
    public let scope: ScopeID
    public let attachment: UniqueID
    /// The maximum size of an attachment in bytes.
    public let largest: Int64
    /// The default quota in bytes, for accounts that have no quota of their own; nil for no limit.
    public let quota: Int64?

    public init(scope: ScopeID, attachment: UniqueID, largest: Int64, quota: Int64?) {
        self.scope = scope
        self.attachment = attachment
        self.largest = largest
        self.quota = quota
    }

    /// Checks whether bytes may be uploaded for the attachment.
    /// - Parameters:
    ///   - byteCount: the number of bytes; nil if it is unknown.
    ///   - upload: the upload in progress for these bytes; nil if there is none. If the length of this upload is `byteCount`, the
    ///     space is already reserved, and the quota is not checked again.
    /// - Returns: the existing blob if the attachment's bytes are already stored; nil if the bytes may be uploaded.
    /// - Throws: ``Problem`` `deleted`, `too-large`, `immutable` or `quota-exceeded`.
    @discardableResult
    public func check(byteCount: Int64?, upload: UniqueID? = nil, in snapshot: any Snapshot) throws -> Blob? {
        switch try snapshot.state(of: attachment, in: scope) {
        case .deleted(let deleted, _)?: throw Problem(deleted: deleted)
        case .entity(let entity, _)? where entity.section != .attachments: throw another(entity)
        case .entity?, nil: break
        }
        if let blob = try snapshot.blob(of: attachment, in: scope) {
            if let byteCount, byteCount != blob.data.byteCount { throw immutable }
            return blob
        }
        if let byteCount, byteCount > largest { throw tooLarge }
        let storage = try snapshot.storage(of: scope)
        guard let limit = storage.quota.limit(standard: quota) else { return nil }
        var open = try snapshot.openUploads(of: scope)
        if let index = open.firstIndex(where: { $0.uniqueID == upload }) {
            let length = open.remove(at: index).length
            if length != nil, length == byteCount { return nil }
        }
        // An upload of unknown length reserves the maximum size of an attachment.
        let used = storage.bytes + open.reduce(0) { $0 + ($1.length ?? largest) }
        guard byteCount ?? 1 <= limit - used else { throw Problem.quotaExceeded(used: used, limit: limit) }
        return nil
    }

    /// Records a blob whose bytes are in the blob store.
    /// - Returns: the blob that is recorded for the attachment. It is `blob`, or another blob with the same bytes that was
    ///   already recorded.
    /// - Throws: the same errors as ``check(byteCount:upload:in:)``. If this throws, `blob` has not been recorded, and the caller
    ///   must remove it from the blob store.
    public func add(_ blob: Blob, upload: UniqueID? = nil, in transaction: any Transaction) throws -> Blob {
        if let known = try check(byteCount: blob.data.byteCount, upload: upload, in: transaction) {
            guard known.data == blob.data else { throw immutable }
            return known
        }
        try transaction.insert(blob)
        return blob
    }

    public var immutable: Problem {
        Problem(.immutable, "Attachment \(attachment) already has other bytes, which cannot be changed.")
    }

    public var tooLarge: Problem {
        Problem(
            .tooLarge, "An attachment must have at most \(largest) bytes on this server.",
            context: ["limit": .integer(largest)])
    }

    private func another(_ entity: Entity) -> Problem {
        Problem(
            .immutable,
            "\(attachment) is the ID of an existing \(entity.objectType?.name ?? "object"). Use another ID for the attachment."
        )
    }
}
