import HesperModel

/// A signed-in device. Its node is its unique ID.
public struct Device: Sendable, Equatable {
    public let node: NodeID
    public let account: UniqueID
    /// The name that the user gave it, at most ``Limits/deviceNameLength`` characters.
    public let name: String
    public var appVersion: String?
    public var userAgent: String?
    public let creationDate: Timestamp
    /// The time of its latest request, to the minute.
    public var lastUseDate: Timestamp
    /// The IP address of its latest request. Earlier addresses are not stored.
    public var lastUseAddress: String?
    /// The time at which it last requested a feed of the notes, to the minute; nil if it never did.
    public var readDate: Timestamp?

    public init(
        node: NodeID, account: UniqueID, name: String, appVersion: String?, userAgent: String?,
        creationDate: Timestamp, lastUseDate: Timestamp, lastUseAddress: String? = nil, readDate: Timestamp? = nil
    ) {
        self.node = node
        self.account = account
        self.name = name
        self.appVersion = appVersion
        self.userAgent = userAgent
        self.creationDate = creationDate
        self.lastUseDate = lastUseDate
        self.lastUseAddress = lastUseAddress
        self.readDate = readDate
    }
}

/// The SHA-256 hash of a token. The token itself is never stored.
public struct TokenHash: Sendable, Hashable {
    public let bytes: [UInt8]

    public init(bytes: [UInt8]) { self.bytes = bytes }
}

/// The device that sent a request, and the head of its scope, read in one query.
public struct Session: Sendable, Equatable {
    public let device: Device
    public let head: ScopeHead
    /// Whether the operator disabled the account.
    public let isDisabled: Bool

    public init(device: Device, head: ScopeHead, isDisabled: Bool = false) {
        self.device = device
        self.head = head
        self.isDisabled = isDisabled
    }

    public var account: UniqueID { device.account }
    public var scope: ScopeID { head.scope }
}
