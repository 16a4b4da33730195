import HesperModel
import HesperStore
import Logging
import NIOConcurrencyHelpers

/// Sends the events of all webhooks. Only the server that holds the lease sends them. Each webhook has at most one request at a
/// time, so that its events arrive in order. Requests of different webhooks run concurrently.
actor WebhookDeliverer {
    private let store: any Store
    private let claim: BlobClaim
    private let commits: WebhookCommits
    private let sender: WebhookSender
    private let now: @Sendable () -> Timestamp
    private let logger: Logger
    nonisolated let meter = WebhookMeter()

    private var lease = Lease.webhooks
    /// The ``Lease/term`` in which the entries of ``progress`` were computed. In a new term they are computed again.
    private var term = 0
    private var progress: [UniqueID: Remembered] = [:]
    private var running: [UniqueID: Running] = [:]
    /// The scopes that changed while a request of one of their webhooks was running.
    private var changedMeanwhile: Set<ScopeID> = []
    /// The scopes of webhooks that were due but had to wait because of ``concurrency``.
    private var waiting: Set<ScopeID> = []
    /// The time of the next attempt to acquire the lease, if another server holds it.
    private var nextLeaseAttempt = Timestamp(clamping: .min)
    private var nextMarkerCheck = Timestamp(clamping: .min)
    /// Whether the marker in the attachment store has been read. The marker names the installation to which the attachments
    /// belong. No event is sent until the marker has been read.
    private var hasCheckedMarker = false

    private struct Remembered {
        var progress: WebhookProgress
        /// The time at which the progress was last used.
        var date: Timestamp
    }

    private struct Running {
        let scope: ScopeID
        let task: Task<Void, Never>
    }

    /// The interval at which all active webhooks are examined. Examining them after announced commits is not enough: commits of
    /// other processes are not announced, and delayed events and retries become due without a commit.
    static let pollInterval = Duration.seconds(2)
    /// The interval if there are no active webhooks.
    static let idlePollInterval = Duration.seconds(10)
    /// The maximum number of concurrent requests, in total and per account.
    static let concurrency = PermitLimits(total: 64, perKey: 4)
    /// The time after which a lease that another server holds is requested again, in milliseconds.
    private static let leaseAttemptInterval: Int64 = 5_000
    private static let markerCheckInterval: Int64 = 60_000
    /// The number of webhooks that are read at a time.
    private static let page = 1_000
    /// The maximum number of batches of events that are sent to a webhook before other webhooks are served.
    private static let batches = 5
    /// The time after which unused progress is removed from memory, in milliseconds. When it is needed again, it is computed from
    /// the delivery log.
    private static let memoryPeriod: Int64 = 5 * 60_000
    /// The minimum time between two saves of the progress if no events were sent, in milliseconds.
    private static let saveInterval: Int64 = 60_000
    private static let backoff = Backoff(first: .seconds(5), longest: .seconds(4 * 60 * 60))

    init(backend: Backend, sender: WebhookSender, logger: Logger) {
        store = backend.store
        claim = BlobClaim(store: backend.store, blobs: backend.blobs)
        commits = backend.webhookCommits
        self.sender = sender
        now = backend.now
        self.logger = logger
    }

    /// The loops that run this deliverer while the server runs.
    nonisolated var loops: [BackgroundLoop] {
        let backoff = Backoff(first: .seconds(5))
        return [
            BackgroundLoop(
                "Sending webhooks", trigger: commits.pending.trigger, backoff: backoff, logger: logger,
                atEnd: { await self.end() },
                step: {
                    try await self.step()
                    return nil
                }),
            BackgroundLoop("Polling for webhooks", backoff: backoff, logger: logger) { [commits] in
                commits.pending.add(.all)
                return commits.isWatching ? WebhookDeliverer.pollInterval : WebhookDeliverer.idlePollInterval
            },
        ]
    }

    /// Starts the requests that are due, unless another server holds the lease. It does not wait for them.
    func step() async throws {
        let scopes = commits.pending.take()
        do {
            let due = try await active(in: scopes).filter { isDue($0) }
            guard !due.isEmpty, try await hold(), try await isInstallationUncontested() else { return }
            for active in due { start(active.webhook) }
        } catch {
            commits.pending.add(scopes)
            throw error
        }
    }

    /// Waits until no request is running. Used by tests.
    func finish() async {
        while let running = running.values.first { await running.task.value }
    }

    /// Cancels all requests and releases the lease.
    func end() async {
        let tasks = running.values.map(\.task)
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        try? await lease.end(in: store)
    }

    // MARK: What is due

    private func active(in scopes: PendingRefreshes.Scopes) async throws -> [ActiveWebhook] {
        let epoch = store.installation.epoch
        switch scopes {
        case .only(let scopes):
            return try await store.read { snapshot in
                try scopes.sorted().flatMap {
                    try snapshot.activeWebhooks(of: $0, in: epoch, after: nil, limit: WebhookDeliverer.page)
                }
            }
        case .all:
            var all: [ActiveWebhook] = []
            while true {
                let last = all.last?.webhook
                let page = try await store.read {
                    try $0.activeWebhooks(of: nil, in: epoch, after: last, limit: WebhookDeliverer.page)
                }
                all += page
                guard page.count < WebhookDeliverer.page else { continue }
                commits.watch(Set(all.map(\.webhook.scope)))
                return all
            }
        }
    }

    private func isDue(_ active: ActiveWebhook) -> Bool {
        let (webhook, now) = (active.webhook, now())
        if running[webhook.uniqueID] != nil {
            changedMeanwhile.insert(webhook.scope)
            return false
        }
        if let date = webhook.nextAttemptDate, date > now { return false }
        guard let progress = progress[webhook.uniqueID]?.progress else { return webhook.sequence < active.head }
        return progress.position < active.head || progress.isDue(at: now)
    }

    /// Acquires or renews the lease.
    /// - Returns: whether this server holds it.
    private func hold() async throws -> Bool {
        let now = now()
        guard nextLeaseAttempt <= now else { return false }
        var lease = lease
        let isHeld = try await lease.hold(in: store, at: now)
        self.lease = lease
        if !isHeld { nextLeaseAttempt = now.adding(WebhookDeliverer.leaseAttemptInterval) }
        if !isHeld || lease.term != term { progress = [:] }
        term = lease.term
        let start = now.adding(-WebhookDeliverer.memoryPeriod)
        progress = progress.filter { $0.value.date > start }
        return isHeld
    }

    /// Checks whether this database may be a copy of another database. If so, pauses all webhooks, because the original and the
    /// copy would send the same events. The database may be a copy if the attachments belong to another database, if two copies
    /// have used the attachments, or if the marker of the attachments is missing or damaged.
    /// - Returns: false if the webhooks were paused.
    private func isInstallationUncontested() async throws -> Bool {
        guard nextMarkerCheck <= now() else { return true }
        let blocker: RemovalBlocker?
        do {
            blocker = try await claim.removalBlocker()
            hasCheckedMarker = true
        } catch {
            // Events do not contain attachments, so they are sent even while the attachment store is unavailable.
            guard hasCheckedMarker else { throw error }
            blocker = nil
        }
        guard let blocker, blocker.isOfMarker, blocker != .unmarked else {
            nextMarkerCheck = now().adding(WebhookDeliverer.markerCheckInterval)
            return true
        }
        for active in try await active(in: .all) {
            let (id, scope) = (active.webhook.uniqueID, active.webhook.scope)
            try await store.write { transaction in
                guard try transaction.lock(scope) != nil, var webhook = try transaction.webhook(id, in: scope) else {
                    return
                }
                webhook.pause(.contested)
                try transaction.update(webhook)
            }
        }
        logger.error("All webhooks were paused. \(blocker) Afterwards, the owners of the webhooks can resume them.")
        return false
    }

    // MARK: Sending

    private func start(_ webhook: Webhook) {
        let limits = WebhookDeliverer.concurrency
        let isFree =
            running.count < limits.total && running.values.count { $0.scope == webhook.scope } < limits.perKey
        guard running[webhook.uniqueID] == nil else { return }
        guard isFree else {
            waiting.insert(webhook.scope)
            return
        }
        running[webhook.uniqueID] = Running(
            scope: webhook.scope,
            task: Task {
                let hasMore = await self.deliver(webhook)
                self.stop(webhook, hasMore: hasMore)
            })
    }

    private func stop(_ webhook: Webhook, hasMore: Bool) {
        running[webhook.uniqueID] = nil
        let hasChanged = changedMeanwhile.remove(webhook.scope) != nil
        let isAwaited = waiting.remove(webhook.scope) != nil
        if hasMore || hasChanged || isAwaited { commits.pending.add(.only([webhook.scope])) }
        if let other = waiting.popFirst() { commits.pending.add(.only([other])) }
    }

    /// Sends the events of a webhook until there are no more, until a request fails, or until ``batches`` batches were sent.
    /// - Returns: whether there are more events.
    private func deliver(_ webhook: Webhook) async -> Bool {
        let (id, scope) = (webhook.uniqueID, webhook.scope)
        do {
            // The webhook is read again, because a request that has ended in the meantime may have changed it.
            guard var webhook = try await store.read({ try $0.webhook(id, in: scope) }),
                webhook.pauseReason(in: store.installation.epoch) == nil,
                webhook.nextAttemptDate.map({ $0 <= now() }) ?? true
            else { return false }
            var progress = try await restoredProgress(of: webhook)
            self.progress[id] = nil
            var isComplete = false
            for _ in 0..<WebhookDeliverer.batches where !isComplete {
                let (current, hook, now) = (progress, webhook, now())
                let planned = try await store.read { snapshot in
                    var progress = current
                    let plan = try progress.plan(for: hook, in: snapshot, at: now)
                    return (progress: progress, plan: plan)
                }
                let plan = planned.plan
                progress = planned.progress
                for event in plan.events {
                    try Task.checkCancellation()
                    guard let next = try await send(event, to: webhook, &progress) else { return false }
                    webhook = next
                    if webhook.failures > 0 || webhook.pauseReason(in: store.installation.epoch) != nil {
                        self.progress[id] = Remembered(progress: progress, date: self.now())
                        return false
                    }
                }
                progress.finish(plan, at: self.now())
                try await save(&progress, of: webhook, isForced: !plan.events.isEmpty)
                isComplete = plan.isComplete
            }
            self.progress[id] = Remembered(progress: progress, date: now())
            return !isComplete
        } catch {
            if !Task.isCancelled {
                OutageLog.shared.report("Sending a webhook failed; retrying", error, logger: logger)
            }
            return false
        }
    }

    private func restoredProgress(of webhook: Webhook) async throws -> WebhookProgress {
        if let known = progress[webhook.uniqueID] { return known.progress }
        let log = try await store.read {
            try $0.webhookDeliveries(of: webhook.uniqueID, in: webhook.scope, limit: Webhook.loggedDeliveries)
        }
        return WebhookProgress(webhook, log: log)
    }

    /// Sends an event and records the outcome.
    /// - Returns: the webhook as it is stored now; nil if it was deleted, or if another server has the lease.
    private func send(
        _ event: WebhookProgress.Event, to webhook: Webhook, _ progress: inout WebhookProgress
    ) async throws -> Webhook? {
        let (id, scope, epoch) = (webhook.uniqueID, webhook.scope, webhook.epoch)
        let message = WebhookMessage.id(of: event.type, event.object, event.sequence, to: id, epoch: epoch)
        let logged = try await store.read { try $0.webhookDelivery(message, of: id, in: scope) }
        let delivery =
            logged
            ?? WebhookDelivery(
                message: message, event: event.type, object: event.object, sequence: event.sequence, date: now())
        let (attempt, isGone) = await sender.attempt(delivery, to: webhook, now: now)
        // If the server is shutting down, the attempt was interrupted. The receiver is not at fault, so no failure is recorded.
        try Task.checkCancellation()
        meter.count(isDelivered: attempt.isDelivered)
        if attempt.isDelivered { progress.succeed(event, at: attempt.lastAttemptDate) }
        // The progress is kept in memory, so that a delivered event is not sent again if its outcome cannot be recorded, for
        // example because the disk is full.
        self.progress[id] = Remembered(progress: progress, date: now())
        let (lease, current) = (lease, progress)
        let delay = WebhookDeliverer.delay(after: webhook.failures + 1)
        return try await store.writeDerived { transaction in
            guard try transaction.lock(scope) != nil, var webhook = try transaction.webhook(id, in: scope),
                try lease.take(in: transaction, at: attempt.lastAttemptDate)
            else { return nil }
            if attempt.isDelivered {
                webhook.succeed()
                webhook.advance(to: current)
            } else if webhook.storedPauseReason == nil {
                webhook.fail(at: attempt.lastAttemptDate, isGone: isGone, delay: delay)
            }
            try transaction.update(webhook)
            try transaction.record(attempt, of: id, in: scope, limit: Webhook.loggedDeliveries)
            return webhook
        }
    }

    /// Stores how far the feed has been read.
    /// - Parameter isForced: true if events were sent. If it is false, the progress is stored at most once per ``saveInterval``.
    private func save(_ progress: inout WebhookProgress, of webhook: Webhook, isForced: Bool) async throws {
        let (id, scope, now, current) = (webhook.uniqueID, webhook.scope, now(), progress)
        let isBehind =
            current.sequence > webhook.sequence || current.announcedSequence > webhook.announcedSequence
        let isDue = progress.saveDate.map { $0.adding(WebhookDeliverer.saveInterval) <= now } ?? true
        guard isBehind, isForced || isDue else { return }
        progress.saveDate = now
        let lease = lease
        try await store.writeDerived { transaction in
            guard try transaction.lock(scope) != nil, var webhook = try transaction.webhook(id, in: scope),
                try lease.take(in: transaction, at: now)
            else { return }
            webhook.advance(to: current)
            try transaction.update(webhook)
        }
    }

    /// The time until the next attempt, in milliseconds: the back-off, changed at random by up to a quarter, so that requests of
    /// many webhooks to one receiver are not retried at the same time.
    private static func delay(after failures: Int) -> Int64 {
        let delay = backoff.delay(after: failures).components.seconds * 1_000
        return Int64(Double(delay) * .random(in: 0.75...1.25))
    }
}

extension Webhook {
    fileprivate mutating func advance(to progress: WebhookProgress) {
        sequence = max(sequence, progress.sequence)
        announcedSequence = max(announcedSequence, progress.announcedSequence)
    }
}

extension WebhookSender {
    /// Sends a delivery once.
    /// - Returns: the delivery with the result of the attempt, and whether the receiver responded with 410 Gone.
    func attempt(
        _ delivery: WebhookDelivery, to webhook: Webhook, now: @Sendable () -> Timestamp
    ) async -> (delivery: WebhookDelivery, isGone: Bool) {
        let outcome = await send(WebhookMessage(delivery), to: webhook.url, secret: webhook.secret, at: now())
        var attempt = delivery
        attempt.attempts += 1
        attempt.lastAttemptDate = now()
        attempt.status = outcome.status
        attempt.error = outcome.error
        return (attempt, outcome.status == 410)
    }
}

/// Counts the requests to receivers since the server's start.
final class WebhookMeter: Sendable {
    private let counts = NIOLockedValueBox((delivered: 0, failed: 0))

    var reading: (delivered: Int, failed: Int) { counts.withLockedValue { $0 } }

    func count(isDelivered: Bool) {
        counts.withLockedValue { counts in
            if isDelivered { counts.delivered += 1 } else { counts.failed += 1 }
        }
    }
}
