import HesperModel

/// One account's bag of edits, as the server writes to it: everything goes through the queue of pushes.
public struct Scope: Sendable {
    public let id: ScopeID
    private let queue: PushQueue
    private let installation: Installation
    private let quota: Int64?
    private let now: @Sendable () -> Timestamp

    /// - Parameter quota: how many bytes it may store if it has no quota of its own; nil for any number.
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

    /// What a committed push came to.
    public struct Applied: Sendable {
        public let receipts: [Receipt]
        /// Where the scope stood before and after.
        public let before: ScopeHead
        public let after: ScopeHead
        /// The number of each object that it changed.
        public let sequences: [UniqueID: Int64]
        /// Those of them that nobody else had changed since the sender's token: its own echoes.
        public let echoes: [UniqueID: Int64]
        /// Those of them that did not exist before.
        public let created: Set<UniqueID>
        /// Merges of large texts to prepare before the push is applied again; unless this is empty, nothing was applied.
        let pendingMerges: [PreparedTexts.PendingMerge]

        /// Whether nothing but echoes has changed since `token`: then the answer is known without another look.
        public func isAllEcho(since token: SyncToken?) -> Bool {
            token?.position == .after(before.sequence) && echoes.count == sequences.count
        }
    }

    /// Merges a push; durable when it returns.
    /// - Parameters:
    ///   - sender: the device that pushes.
    ///   - token: how far it had read; checked under the lock, nothing is applied if it is no longer good.
    ///   - merging: merges large texts while nothing is locked; gives the outcomes in the same order.
    public func apply(
        _ push: Push, by sender: NodeID, since token: SyncToken?, of feed: Feed,
        merging: @Sendable ([TextMerge.Input]) async throws -> [TextMerge.Outcome] = { $0.map(\.outcome) }
    ) async throws -> Applied {
        let (epoch, ids, bytes) = (installation.epoch, push.ids, push.byteCount)
        func attempt(_ texts: PreparedTexts?) async throws -> Applied {
            try await write(by: sender, since: token, touching: ids, bytes: bytes, bounds: .device(texts)) {
                _, scope, _ in
                if let token { try feed.check(token, epoch: epoch, head: scope.head) }
                return push
            }
        }
        var texts = PreparedTexts()
        for _ in 0..<Scope.preparations {
            let applied = try await attempt(texts)
            let needs = applied.pendingMerges
            if needs.isEmpty { return applied }
            for (need, outcome) in zip(needs, try await merging(needs.map(\.input))) { texts.add(need, outcome) }
        }
        // Other pushes changed the texts each time.
        return try await attempt(nil)
    }

    /// How often texts are merged before the scope is locked; after that they are merged under the lock.
    private static let preparations = 3

    /// Does something in the scope's next commit; durable when it returns.
    public func commit<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws -> T {
        try await queue.submit(to: id, body)
    }

    /// Makes a push while the scope is locked, from what it holds, and merges it.
    /// - Parameters:
    ///   - objects: what the push will name, as far as it is known beforehand.
    ///   - bytes: about how many bytes it will have.
    ///   - isWhole: whether a refusal of any part refuses, and undoes, all of it.
    ///   - body: given the transaction, the scope and a stamp for what the server itself sets.
    public func write(
        by sender: NodeID, since token: SyncToken? = nil, isWhole: Bool = false, touching objects: [UniqueID] = [],
        bytes: Int = 0, bounds: Merge.Bounds = Merge.Bounds(),
        _ body: @escaping @Sendable (any Transaction, LockedScope, inout Stamp) throws -> Push
    ) async throws -> Applied {
        let (id, installation, quota, now) = (id, installation, quota, now())
        return try await queue.submit(to: id, touching: objects, bytes: bytes) { transaction in
            var turn = try ScopeTurn(id, in: transaction, installation, at: now)
            try turn.admit(sender)
            let push = try body(transaction, turn.scope, &turn.stamp)
            return try turn.merge(
                push, by: sender, since: token, isWhole: isWhole,
                limit: turn.scope.storage.quota.limit(standard: quota), bounds: bounds)
        }
    }

    /// Writes a step of a revocation, unless somebody else has.
    func putBack(_ step: RevocationStep) async throws {
        let (id, installation, now) = (id, installation, now())
        let ids = step.plans.map(\.entity.uniqueID)
        let _: Applied = try await queue.submit(to: id, touching: ids) { transaction in
            var turn = try ScopeTurn(id, in: transaction, installation, at: now)
            guard let begun = try step.push(in: transaction, at: now, stamp: &turn.stamp) else {
                return turn.nothing([])
            }
            var next = begun.revocation
            let applied = try turn.merge(begun.push, by: next.requestedBy)
            next.counts.count(applied.receipts)
            try transaction.put(next)
            return applied
        }
    }
}

/// The clock of what the server itself sets in one write.
public struct Stamp: Sendable {
    private var source: ClockSource
    private let wall: Timestamp
    /// The last clock that was ticked; nil until one is.
    public private(set) var last: Clock?

    init(node: NodeID, last: Clock?, wall: Timestamp) {
        source = ClockSource(node: node, last: last)
        self.wall = wall
    }

    /// A clock greater than everything in `entity`.
    public mutating func tick(after entity: Entity?) -> Clock {
        if let last = entity?.lastClock { source.observe(last) }
        let clock = source.tick(at: UInt64(max(wall.milliseconds, 0)))
        last = clock
        return clock
    }
}
