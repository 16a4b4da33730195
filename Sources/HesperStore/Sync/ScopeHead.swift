import HesperModel

/// One bag of edits: an account has one of its own.
public struct ScopeID: Hashable, Sendable, Comparable {
    public let rawValue: Int64

    public init(_ rawValue: Int64) { self.rawValue = rawValue }

    public static func < (left: ScopeID, right: ScopeID) -> Bool { left.rawValue < right.rawValue }
}

/// Where a scope stands: the last sequence number given out, and the digest of all that it holds.
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

/// What whoever listens to a scope must know of it.
public struct ScopeStatus: Sendable, Equatable {
    public let sequence: Int64
    /// Who is signed in.
    public var devices: Set<NodeID>

    public init(sequence: Int64, devices: Set<NodeID>) {
        self.sequence = sequence
        self.devices = devices
    }
}
