import HesperModel

/// The identity of a database. All servers on the same database have the same installation.
public struct Installation: Sendable, Equatable {
    /// A random number, which changes when the database is restored from a backup. Sync tokens with another epoch are invalid
    /// (protocol.md, Sync).
    public let epoch: UInt64
    /// The node in the clocks of edits that servers make.
    public let node: NodeID

    public init(epoch: UInt64, node: NodeID) {
        self.epoch = epoch
        self.node = node
    }
}
