import HesperModel

/// A device that signed in. Its node is its unique ID.
public struct Device: Sendable, Equatable {
    public let node: NodeID
    public let account: UniqueID
    /// What its owner calls it, at most ``Limits/deviceNameLength`` characters.
    public let name: String
    public var appVersion: String?
    public var userAgent: String?
    public let creationDate: Timestamp
    /// Its latest request, exact to a minute.
    public var lastUseDate: Timestamp
    /// Where that came from: an IP address. The ones before are not kept.
    public var lastUseAddress: String?
    /// When it last asked for more of the notes, exact to a minute; nil if it never did.
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

/// The SHA-256 of a token; the token itself is never kept.
public struct TokenHash: Sendable, Hashable {
    public let bytes: [UInt8]

    public init(bytes: [UInt8]) { self.bytes = bytes }
}

/// Who sent a request, and how far their scope is: read in one look at the store.
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
