import HesperModel

/// Whether bytes may be kept for an attachment, asked before they come and once more when they are here.
public struct BlobAdmission: Sendable {
    public let scope: ScopeID
    public let attachment: UniqueID
    /// How many bytes one attachment may have.
    public let largest: Int64
    /// How many bytes an account may store that has no quota of its own; nil for any number.
    public let quota: Int64?

    public init(scope: ScopeID, attachment: UniqueID, largest: Int64, quota: Int64?) {
        self.scope = scope
        self.attachment = attachment
        self.largest = largest
        self.quota = quota
    }

    /// - Parameters:
    ///   - byteCount: how many will come; nil if nobody knows.
    ///   - upload: one that is under way for them. If it was admitted with this length, it has its room, whatever was
    ///     stored since.
    /// - Returns: the bytes that are here already.
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
        // One that has not told its length may become as long as any.
        let used = storage.bytes + open.reduce(0) { $0 + ($1.length ?? largest) }
        guard byteCount ?? 1 <= limit - used else { throw Problem.quotaExceeded(used: used, limit: limit) }
        return nil
    }

    /// Keeps that the bytes are here.
    /// - Returns: what is here now: another blob, if there was one with the same bytes.
    /// - Throws: as ``check(byteCount:upload:in:)`` does; then `blob` is nobody's.
    public func add(_ blob: Blob, upload: UniqueID? = nil, in transaction: any Transaction) throws -> Blob {
        if let known = try check(byteCount: blob.data.byteCount, upload: upload, in: transaction) {
            guard known.data == blob.data else { throw immutable }
            return known
        }
        try transaction.insert(blob)
        return blob
    }

    public var immutable: Problem {
        Problem(.immutable, "Other bytes of attachment \(attachment) are here; they do not change.")
    }

    public var tooLarge: Problem {
        Problem(.tooLarge, "An attachment has at most \(largest) bytes here.", context: ["limit": .integer(largest)])
    }

    private func another(_ entity: Entity) -> Problem {
        Problem(
            .immutable,
            "\(attachment) is a \(entity.objectType?.name ?? "object") already; an attachment takes another ID.")
    }
}
