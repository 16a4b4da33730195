import HesperModel

/// What all servers on one database share.
public struct Installation: Sendable, Equatable {
    /// Changes when the database is restored from a backup; tokens of another epoch are no longer good (protocol.md, Sync).
    public let epoch: UInt64
    /// The node of the clocks that the server ticks.
    public let node: NodeID

    public init(epoch: UInt64, node: NodeID) {
        self.epoch = epoch
        self.node = node
    }
}
