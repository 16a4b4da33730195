import HesperModel

/// The outcome of a request with an `Idempotency-Key`. If the request is repeated with the same key, the server creates no second
/// object, and responds with the recorded object as it is now (protocol.md, Idempotency keys).
public struct IdempotencyRecord: Sendable, Equatable {
    /// The SHA-256 hash of the request's method, path and key.
    public let keyHash: [UInt8]
    /// The SHA-256 hash of the request's body. A request with the same key but another body is refused.
    public let bodyHash: [UInt8]
    /// The object that the request created, or the note to which it added text. If the ID or the tag name in the request was
    /// already taken, this is the existing object.
    public let object: UniqueID
    /// Whether the request created the object.
    public let isCreation: Bool
    public let date: Timestamp

    public init(keyHash: [UInt8], bodyHash: [UInt8], object: UniqueID, isCreation: Bool, date: Timestamp) {
        self.keyHash = keyHash
        self.bodyHash = bodyHash
        self.object = object
        self.isCreation = isCreation
        self.date = date
    }

    /// Whether the record has not expired yet. The sweeper deletes expired records later.
    public func isValid(at now: Timestamp) -> Bool {
        date.adding(Int64(Limits.idempotencyKeySeconds) * 1_000) > now
    }
}
