import HesperModel
import HesperStore
import NIOCore

/// The dependencies that all resources share: the stores, the push queue, the event hub, limits and the clock.
struct Backend: Sendable {
    let store: any Store
    let blobs: any BlobStore
    let queue: PushQueue
    let hub: EventHub
    /// Wakes the delivery of webhooks after commits.
    let webhookCommits: WebhookCommits
    /// Limits concurrent merges of large texts, globally and per account.
    let merges: Semaphore<ScopeID>
    /// Pages that are read before they are requested.
    let prefetch = PagePrefetch()
    /// The time for which deleted objects can be restored, in milliseconds (merge.md, Deleting).
    let grace: Int64
    /// The default quota of an account, in bytes. It applies if the operator has set no quota for the account. Nil for no limit.
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
        let webhookCommits = WebhookCommits()
        self.webhookCommits = webhookCommits
        self.queue = PushQueue(store: store) { heads in
            hub.announce(heads)
            webhookCommits.announce(heads)
        }
        // Merges and password hashing run on the same threads, one per core. Merges may use at most half of the threads, so that
        // the other threads are free for hashing.
        merges = .perAccount(
            "pushes of large texts", PermitLimits(total: max(1, System.coreCount / 2), perKey: 1, waitingPerKey: 16))
        self.now = now
    }

    var epoch: UInt64 { store.installation.epoch }

    /// The start of the period in which deletions can be undone. Objects that were deleted before this time can no longer be
    /// restored.
    var graceStart: Timestamp { now().adding(-grace) }

    func scope(of session: Session) -> Scope {
        Scope(session.scope, queue: queue, installation: store.installation, quota: quota, now: now)
    }

    /// A ``Clock`` with the server's current time. Devices use it to determine how much their own time differs from the server's
    /// (merge.md, Clocks).
    var serverClock: Clock? {
        Clock(milliseconds: UInt64(max(now().milliseconds, 0)), node: store.installation.node)
    }
}
