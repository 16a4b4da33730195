/// The number of bytes that a scope stores, and the scope's quota.
public struct Storage: Sendable, Equatable {
    /// The total size of the bodies of all parcels, in bytes.
    public var parcelBytes: Int64
    /// The total size of all attachments, in bytes.
    public var attachmentBytes: Int64
    public var quota: Quota

    public init(parcelBytes: Int64 = 0, attachmentBytes: Int64 = 0, quota: Quota = .standard) {
        self.parcelBytes = parcelBytes
        self.attachmentBytes = attachmentBytes
        self.quota = quota
    }

    /// The number of bytes that count against the quota.
    public var bytes: Int64 { parcelBytes + attachmentBytes }
}

/// The number of bytes that an account may store.
public enum Quota: Sendable, Equatable {
    /// The server's default quota.
    case standard
    case unlimited
    case bytes(Int64)

    private static let storedUnlimited: Int64 = -1

    /// - Parameter stored: the value of the column `quota`. Nil stands for the default quota, and a negative number for no limit.
    public init(stored: Int64?) {
        switch stored {
        case nil: self = .standard
        case let bytes? where bytes < 0: self = .unlimited
        case let bytes?: self = .bytes(bytes)
        }
    }

    /// The value that is stored in the column `quota`.
    public var stored: Int64? {
        switch self {
        case .standard: nil
        case .unlimited: Quota.storedUnlimited
        case .bytes(let bytes): bytes
        }
    }

    /// The maximum number of bytes under this quota; nil if there is no limit.
    /// - Parameter standard: the server's default quota in bytes; nil for no limit.
    public func limit(standard: Int64?) -> Int64? {
        switch self {
        case .standard: standard
        case .unlimited: nil
        case .bytes(let bytes): bytes
        }
    }
}
