import HesperModel

/// The ID of a scope. Each account has one scope.
public struct ScopeID: Hashable, Sendable, Comparable {
    public let rawValue: Int64

    public init(_ rawValue: Int64) { self.rawValue = rawValue }

    public static func < (left: ScopeID, right: ScopeID) -> Bool { left.rawValue < right.rawValue }
}

/// The state of a scope: the highest sequence number that has been assigned, and the digest of all objects.
public struct ScopeHead: Sendable, Equatable {
    public let scope: ScopeID
    public let sequence: Int64
    public let digest: Digest

    public init(scope: ScopeID, sequence: Int64, digest: Digest) {
        self.scope = scope
        self.sequence = sequence
        self.digest = digest
    }
}

/// The data of a scope that the server polls for event streams. An event stream sends new changes, and ends if its device has been
/// signed out.
public struct ScopeStatus: Sendable, Equatable {
    public let sequence: Int64
    /// The devices that are signed in; empty if the account is disabled.
    public var devices: Set<NodeID>

    public init(sequence: Int64, devices: Set<NodeID>) {
        self.sequence = sequence
        self.devices = devices
    }
}
