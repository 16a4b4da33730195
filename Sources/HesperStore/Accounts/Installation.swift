import HesperModel

/// The identity of a database, which all of its servers share.
public struct Installation: Sendable, Equatable {
    /// A random number that a restore from a backup changes. Sync tokens of another epoch are invalid (protocol.md, Sync).
    public let epoch: UInt64
    /// The node of the clocks that servers create.
    public let node: NodeID

    public init(epoch: UInt64, node: NodeID) {
        self.epoch = epoch
        self.node = node
    }
}
