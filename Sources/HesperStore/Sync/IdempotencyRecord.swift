import HesperModel

/// What a request with an `Idempotency-Key` left: its retry gets the same response, and creates nothing (protocol.md, Idempotency
/// keys).
public struct IdempotencyRecord: Sendable, Equatable {
    /// SHA-256 of the method, the path and the key.
    public let keyHash: [UInt8]
    /// SHA-256 of the body: the same key with another body is a mistake.
    public let bodyHash: [UInt8]
    /// The object that the request created, or that existed already.
    public let object: UniqueID
    /// Whether the request created it.
    public let isCreation: Bool
    public let date: Timestamp

    public init(keyHash: [UInt8], bodyHash: [UInt8], object: UniqueID, isCreation: Bool, date: Timestamp) {
        self.keyHash = keyHash
        self.bodyHash = bodyHash
        self.object = object
        self.isCreation = isCreation
        self.date = date
    }

    /// Whether it still holds; one that does not is removed later.
    public func isValid(at now: Timestamp) -> Bool {
        date.adding(Int64(Limits.idempotencyKeySeconds) * 1_000) > now
    }
}
