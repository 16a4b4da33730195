import HesperModel

/// One account's bag of edits, as the server writes to it: everything goes through the queue of pushes.
public struct Scope: Sendable {
    public let id: ScopeID
    private let queue: PushQueue
    private let installation: Installation
    private let now: @Sendable () -> Timestamp

    public init(
        _ id: ScopeID, queue: PushQueue, installation: Installation, now: @escaping @Sendable () -> Timestamp
    ) {
        self.id = id
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

        /// Whether nothing but echoes has changed since `token`: then the answer is known without another look.
        public func isAllEcho(since token: SyncToken?) -> Bool {
            token?.position == .after(before.sequence) && echoes.count == sequences.count
        }
    }

    /// Merges a push; durable when it returns.
    /// - Parameters:
    ///   - sender: the device that pushes.
    ///   - token: how far it had read; checked under the lock, nothing is applied if it is no longer good.
    public func apply(
        _ push: Push, by sender: NodeID, since token: SyncToken?, of feed: Feed
    ) async throws -> Applied {
        let epoch = installation.epoch
        return try await write(by: sender, since: token, touching: push.ids) { _, scope, _ in
            if let token { try feed.check(token, epoch: epoch, head: scope.head) }
            return push
        }
    }

    /// Does something in the scope's next commit; durable when it returns.
    public func commit<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws -> T {
        try await queue.submit(to: id, body)
    }

    /// Makes a push while the scope is locked, from what it holds, and merges it.
    /// - Parameters:
    ///   - objects: what the push will name, as far as it is known beforehand.
    ///   - isWhole: whether a refusal of any part refuses, and undoes, all of it.
    ///   - body: given the transaction, the scope and a stamp for what the server itself sets.
    public func write(
        by sender: NodeID, since token: SyncToken? = nil, isWhole: Bool = false, touching objects: [UniqueID] = [],
        _ body: @escaping @Sendable (any Transaction, LockedScope, inout Stamp) throws -> Push
    ) async throws -> Applied {
        let (id, installation, now) = (id, installation, now())
        return try await queue.submit(to: id, touching: objects) { transaction in
            guard let scope = try transaction.lock(id) else {
                throw Problem(.unauthenticated, "The account is gone.")
            }
            var stamp = Stamp(node: installation.node, last: scope.serverClock, wall: now)
            let push = try body(transaction, scope, &stamp)
            let bag = transaction.bag(of: id)
            let outcome = try Merge.apply(
                push, to: bag,
                in: Merge.Context(
                    now: now, server: installation.node, serverClock: stamp.last ?? scope.serverClock,
                    greatestClock: max(scope.greatestClock, stamp.last)))
            if isWhole, let problem = outcome.receipts.lazy.compactMap(\.firstProblem).first { throw problem }
            if outcome.parcels.isEmpty, outcome.changes.isEmpty {
                return Applied(
                    receipts: outcome.receipts, before: scope.head, after: scope.head, sequences: [:], echoes: [:],
                    created: [])
            }
            let (head, sequences) = try transaction.append(outcome, to: scope, by: sender, at: now)
            return Applied(
                receipts: outcome.receipts, before: scope.head, after: head, sequences: sequences,
                echoes: echoes(of: outcome, sequences, since: token),
                created: Set(outcome.changes.filter { $0.before?.sequence == nil }.map(\.uniqueID)))
        }
    }
}

private func max(_ left: Clock?, _ right: Clock?) -> Clock? {
    guard let left, let right else { return left ?? right }
    return Swift.max(left, right)
}

/// What the sender need not be sent: objects where all that it sent stands, which were new or had not changed since its
/// token.
private func echoes(
    of outcome: MergeOutcome, _ sequences: [UniqueID: Int64], since token: SyncToken?
) -> [UniqueID: Int64] {
    // During a first sync only what was new is known to be the sender's own.
    var read: Int64 = 0
    if case .after(let sequence)? = token?.position { read = sequence }
    var echoes: [UniqueID: Int64] = [:]
    var before: [UniqueID: Int64] = [:]
    for change in outcome.changes {
        if let sequence = change.before?.sequence { before[change.uniqueID] = sequence }
    }
    // To an attachment the server adds what it knows of the bytes.
    for receipt in outcome.receipts where receipt.status == .applied && receipt.objectType != ObjectType.attachment.name
    {
        guard let id = receipt.uniqueID, let sequence = sequences[id], before[id] ?? 0 <= read else { continue }
        echoes[id] = sequence
    }
    // Of an object that stands twice in a push, the worse receipt decides.
    for receipt in outcome.receipts where receipt.status > .applied {
        if let id = receipt.uniqueID { echoes[id] = nil }
    }
    return echoes
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

extension Receipt {
    /// Why the first part of it was refused, if one was.
    fileprivate var firstProblem: Problem? {
        problem ?? fields.sorted { $0.key < $1.key }.lazy.compactMap(\.value.problem).first
    }
}
