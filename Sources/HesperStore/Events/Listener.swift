import HesperModel

/// The registration of one stream as a listener of a scope. The registration ends when the last reference to this object is
/// released.
public final class Listener: Sendable {
    private let mailbox: Mailbox
    private let device: NodeID
    private let scope: ScopeID
    private let hub: EventHub

    init(_ mailbox: Mailbox, of device: NodeID, in scope: ScopeID, hub: EventHub) {
        self.mailbox = mailbox
        self.device = device
        self.scope = scope
        self.hub = hub
    }

    deinit { hub.remove(mailbox, of: device, in: scope) }

    /// Waits until there are events, and returns all pending events together.
    public func next() async -> ListenerUpdate { await mailbox.next() }

    /// Ends the listener. ``next()`` then returns the reason.
    public func end(_ end: ListenerUpdate.End) { mailbox.end(end) }

    /// The reason why the listener has ended; nil if it has not ended.
    public var endReason: ListenerUpdate.End? { mailbox.endReason }
}
