/// The bytes that a scope stores, and its quota.
public struct Storage: Sendable, Equatable {
    /// The size of the bodies of all parcels.
    public var parcelBytes: Int64
    /// The size of all attachments.
    public var attachmentBytes: Int64
    public var quota: Quota

    public init(parcelBytes: Int64 = 0, attachmentBytes: Int64 = 0, quota: Quota = .standard) {
        self.parcelBytes = parcelBytes
        self.attachmentBytes = attachmentBytes
        self.quota = quota
    }

    /// The bytes that count against the quota.
    public var bytes: Int64 { parcelBytes + attachmentBytes }
}

/// The number of bytes that an account may store.
public enum Quota: Sendable, Equatable {
    /// The server's default.
    case standard
    case unlimited
    case bytes(Int64)

    private static let storedUnlimited: Int64 = -1

    /// - Parameter stored: the value of the column `quota`.
    public init(stored: Int64?) {
        switch stored {
        case nil: self = .standard
        case let bytes? where bytes < 0: self = .unlimited
        case let bytes?: self = .bytes(bytes)
        }
    }

    /// The value of the column `quota`.
    public var stored: Int64? {
        switch self {
        case .standard: nil
        case .unlimited: Quota.storedUnlimited
        case .bytes(let bytes): bytes
        }
    }

    /// The number of bytes; nil if there is no limit.
    /// - Parameter standard: the server's setting.
    public func limit(standard: Int64?) -> Int64? {
        switch self {
        case .standard: standard
        case .unlimited: nil
        case .bytes(let bytes): bytes
        }
    }
}
