import HesperModel
import HesperStore
import NIOCore

/// What every resource stands on: the store, the queue of pushes before it, who listens, and the time.
struct Backend: Sendable {
    let store: any Store
    let blobs: any BlobStore
    let queue: PushQueue
    let hub: EventHub
    /// Limits concurrent merges of large texts, globally and per account.
    let merges: Semaphore<ScopeID>
    /// How long what was deleted can be put back, in milliseconds (merge.md, Deleting).
    let grace: Int64
    /// How many bytes an account may store that has no quota of its own; nil for any number.
    let quota: Int64?
    let now: @Sendable () -> Timestamp

    init(
        store: any Store, blobs: any BlobStore, grace: Int64 = SweepPolicy().grace, quota: Int64? = nil,
        now: @escaping @Sendable () -> Timestamp = { .now }
    ) {
        self.store = store
        self.grace = grace
        self.quota = quota
        self.blobs = blobs
        let hub = EventHub(signals: store.signals)
        self.hub = hub
        self.queue = PushQueue(store: store, committed: hub.announce)
        // Sign-ins, which hash passwords on the same threads, have the others.
        merges = .perAccount(
            "pushes of large texts", PermitLimits(total: max(1, System.coreCount / 2), perKey: 1, waitingPerKey: 16))
        self.now = now
    }

    var epoch: UInt64 { store.installation.epoch }

    /// What was deleted since then is still there.
    var graceStart: Timestamp { now().adding(-grace) }

    func scope(of session: Session) -> Scope {
        Scope(session.scope, queue: queue, installation: store.installation, quota: quota, now: now)
    }

    /// What the server's clock says: a device learns from it how far its own wall clock is off (merge.md, Clocks).
    var serverClock: Clock? {
        Clock(milliseconds: UInt64(max(now().milliseconds, 0)), node: store.installation.node)
    }
}
