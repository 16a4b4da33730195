import HesperModel

/// A device that is signed in, or an access token. Its node is its unique ID.
public struct Device: Sendable, Equatable {
    public let node: NodeID
    public let account: UniqueID
    /// The name that the user gave the device, at most ``Limits/deviceNameLength`` characters.
    public let name: String
    public var appVersion: String?
    public var userAgent: String?
    public let creationDate: Timestamp
    /// The time of the device's most recent request, to the minute.
    public var lastUseDate: Timestamp
    /// The IP address from which the device sent its most recent request. Earlier addresses are not stored.
    public var lastUseAddress: String?
    /// The time at which the device most recently requested a feed that contains notes, to the minute; nil if it never requested
    /// one.
    public var readDate: Timestamp?
    /// The permissions of an access token; nil for a device, which may do everything.
    public let access: TokenAccess?

    public init(
        node: NodeID, account: UniqueID, name: String, appVersion: String?, userAgent: String?,
        creationDate: Timestamp, lastUseDate: Timestamp, lastUseAddress: String? = nil, readDate: Timestamp? = nil,
        access: TokenAccess? = nil
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
        self.access = access
    }
}

/// The SHA-256 hash of a token. The token itself is never stored.
public struct TokenHash: Sendable, Hashable {
    public let bytes: [UInt8]

    public init(bytes: [UInt8]) { self.bytes = bytes }
}

/// The device that sent a request, and the head (the current state) of the device's scope. Both are read in one query.
///
/// A session is passed to each function that handles a request. `Session` is a class, because passing a reference is faster than
/// copying the strings of a structure.
public final class Session: Sendable, Equatable {
    public let device: Device
    public let head: ScopeHead
    /// Whether the operator has disabled the account.
    public let isDisabled: Bool

    public init(device: Device, head: ScopeHead, isDisabled: Bool = false) {
        self.device = device
        self.head = head
        self.isDisabled = isDisabled
    }

    public var account: UniqueID { device.account }
    public var scope: ScopeID { head.scope }

    public static func == (one: Session, other: Session) -> Bool {
        one.device == other.device && one.head == other.head && one.isDisabled == other.isDisabled
    }
}
