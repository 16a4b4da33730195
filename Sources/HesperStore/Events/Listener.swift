import HesperModel

/// One stream's place among the listeners of its scope. It is given up when nobody holds it any more.
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

    /// Waits for whatever comes up, all of it together.
    public func next() async -> ListenerUpdate { await mailbox.next() }

    /// Has ``next()`` say that it is over.
    public func end(_ end: ListenerUpdate.End) { mailbox.end(end) }

    /// Why it is over, if it is.
    public var isOver: ListenerUpdate.End? { mailbox.isOver }
}
