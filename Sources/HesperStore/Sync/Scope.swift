import HesperModel

/// Write access to a scope. All writes go through the push queue.
public struct Scope: Sendable {
    public let id: ScopeID
    private let queue: PushQueue
    private let installation: Installation
    private let quota: Int64?
    private let now: @Sendable () -> Timestamp

    /// - Parameter quota: the default quota in bytes, which applies if the scope has no quota of its own; nil for no limit.
    public init(
        _ id: ScopeID, queue: PushQueue, installation: Installation, quota: Int64? = nil,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.id = id
        self.quota = quota
        self.queue = queue
        self.installation = installation
        self.now = now
    }

    /// The result of a committed push.
    public struct PushResult: Sendable {
        public let receipts: [Receipt]
        /// The head of the scope before the push.
        public let before: ScopeHead
        /// The head of the scope after the push.
        public let after: ScopeHead
        /// The changed objects with their new sequence numbers.
        public let sequences: [UniqueID: Int64]
        /// The changed objects that need not be sent back to the sender, with their sequence numbers. No other device has changed
        /// them since the sender's token.
        public let echoes: [UniqueID: Int64]
        /// The changed objects that did not exist before.
        public let created: Set<UniqueID>
        /// Merges of large texts that must be prepared before the push is repeated. If this is not empty, nothing was applied.
        let pendingMerges: [PreparedTexts.PendingMerge]

        /// Whether echoes are the only changes since `token`. The response then needs no query.
        public func isAllEcho(since token: SyncToken?) -> Bool {
            token?.position == .after(before.sequence) && echoes.count == sequences.count
        }
    }

    /// Merges a push from a device. The push is durable when this returns.
    /// - Parameters:
    ///   - sender: the device that pushes.
    ///   - token: the device's sync token. If the token is found to be invalid when the scope is locked, nothing is applied.
    ///   - merging: merges large texts while the scope is not locked. It must return the outcomes in the order of the texts.
    public func apply(
        _ push: Push, by sender: NodeID, since token: SyncToken?, of feed: Feed,
        merging: @Sendable ([TextMerge.Input]) async throws -> [TextMerge.Outcome] = { $0.map(\.outcome) }
    ) async throws -> PushResult {
        let (epoch, ids, bytes) = (installation.epoch, push.ids, push.byteCount)
        func attempt(_ texts: PreparedTexts?) async throws -> PushResult {
            try await write(by: sender, since: token, touching: ids, bytes: bytes, bounds: .device(texts)) {
                _, scope, _ in
                if let token { try feed.check(token, epoch: epoch, head: scope.head) }
                return push
            }
        }
        var texts = PreparedTexts()
        for _ in 0..<Scope.preparations {
            let result = try await attempt(texts)
            let needs = result.pendingMerges
            if needs.isEmpty { return result }
            for (need, outcome) in zip(needs, try await merging(needs.map(\.input))) { texts.add(need, outcome) }
        }
        // During each attempt, concurrent pushes changed the texts. The texts are now merged while the scope is locked.
        return try await attempt(nil)
    }

    /// The maximum number of attempts in which large texts are merged before the scope is locked.
    private static let preparations = 3

    /// Runs `body` in the scope's next commit. The commit is durable when this returns.
    public func commit<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws -> T {
        try await queue.submit(to: id, body)
    }

    /// Creates a push while the scope is locked, and merges it.
    /// - Parameters:
    ///   - objects: the objects in the push, as far as they are known beforehand.
    ///   - bytes: the approximate size of the push in bytes.
    ///   - isWhole: whether the push is atomic. If any part of an atomic push is refused, the whole push is rolled back and the
    ///     refusal is thrown.
    ///   - body: creates the push. It receives the transaction, the scope, and a source of clocks for edits by the server.
    public func write(
        by sender: NodeID, since token: SyncToken? = nil, isWhole: Bool = false, touching objects: [UniqueID] = [],
        bytes: Int = 0, bounds: Merge.Bounds = Merge.Bounds(),
        _ body: @escaping @Sendable (any Transaction, LockedScope, inout Stamp) throws -> Push
    ) async throws -> PushResult {
        let (id, installation, quota, now) = (id, installation, quota, now())
        return try await queue.submit(to: id, touching: objects, bytes: bytes) { transaction in
            var writer = try ScopeWriter(id, in: transaction, installation, at: now)
            try writer.checkRevocation(of: sender)
            let push = try body(transaction, writer.scope, &writer.stamp)
            return try writer.merge(
                push, by: sender, since: token, isWhole: isWhole,
                limit: writer.scope.storage.quota.limit(standard: quota), bounds: bounds)
        }
    }

    /// Applies a step of a revocation. Does nothing if the step is outdated, for example because another server has already
    /// applied it.
    func apply(_ step: RevocationStep) async throws {
        let (id, installation, now) = (id, installation, now())
        let ids = step.plans.map(\.entity.uniqueID)
        let _: PushResult = try await queue.submit(to: id, touching: ids) { transaction in
            var writer = try ScopeWriter(id, in: transaction, installation, at: now)
            guard let step = try step.push(in: transaction, at: now, stamp: &writer.stamp) else {
                return writer.unchanged([])
            }
            var next = step.revocation
            let result = try writer.merge(step.push, by: next.requestedBy)
            next.counts.count(result.receipts)
            try transaction.put(next)
            return result
        }
    }
}

/// A source of clocks for edits that a server makes in one write.
public struct Stamp: Sendable {
    private var source: ClockSource
    private let wall: Timestamp
    /// The clock that was created most recently; nil if no clock was created.
    public private(set) var last: Clock?

    init(node: NodeID, last: Clock?, wall: Timestamp) {
        source = ClockSource(node: node, last: last)
        self.wall = wall
    }

    /// Creates a clock that is greater than all clocks in `entity`, and greater than all clocks created before.
    public mutating func tick(after entity: Entity?) -> Clock {
        if let last = entity?.lastClock { source.observe(last) }
        let clock = source.tick(at: UInt64(max(wall.milliseconds, 0)))
        last = clock
        return clock
    }
}
