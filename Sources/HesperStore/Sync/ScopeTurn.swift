import HesperModel

/// One turn at writing to a scope: from the moment that its row is locked.
struct ScopeTurn {
    let scope: LockedScope
    /// Stamps what the server itself sets.
    var stamp: Stamp
    private let transaction: any Transaction
    private let server: NodeID
    private let now: Timestamp

    /// - Throws: `unauthenticated`, if the account is gone.
    init(_ id: ScopeID, in transaction: any Transaction, _ installation: Installation, at now: Timestamp) throws {
        guard let scope = try transaction.lock(id) else {
            throw Problem(.unauthenticated, "The account is gone.")
        }
        self.scope = scope
        self.transaction = transaction
        self.now = now
        server = installation.node
        stamp = Stamp(node: installation.node, last: scope.serverClock, wall: now)
    }

    /// - Throws: `unauthenticated`, if the device was revoked after it asked: what it sent is too late.
    func admit(_ sender: NodeID) throws {
        guard try revocations(of: [sender]).isEmpty else {
            throw Problem(.unauthenticated, "The device was revoked.")
        }
    }

    /// Those that matter: a scope may have had many devices, and none of the others is asked for.
    private func revocations(of nodes: Set<NodeID>) throws -> [Revocation] {
        guard scope.hasRevocations, !nodes.isEmpty else { return [] }
        return try transaction.revocations(of: nodes, in: scope.head.scope)
    }

    /// Merges a push and keeps what it comes to.
    /// - Parameters:
    ///   - isWhole: whether a refusal of any part refuses all of it.
    ///   - limit: how many bytes the scope may store; nil for any number, as for what the server itself writes.
    func merge(
        _ push: Push, by sender: NodeID?, since token: SyncToken? = nil, isWhole: Bool = false, limit: Int64? = nil,
        bounds: Merge.Bounds = Merge.Bounds()
    ) throws -> Scope.PushResult {
        let storageUse = limit.map { Merge.StorageUse(used: scope.storage.bytes, limit: $0) }.flatMap {
            $0.fits(push) ? nil : $0
        }
        let moments = try revocations(of: push.nodes).compactMap { lost in lost.moment.map { (lost.node, $0) } }
        var context = Merge.Context(
            now: now, server: server, serverClock: stamp.last ?? scope.serverClock,
            greatestClock: [scope.greatestClock, stamp.last].compactMap(\.self).max(),
            revoked: Dictionary(moments) { first, _ in first }, restoredSequence: scope.restoredSequence,
            sender: sender, storageUse: storageUse)
        context.bounds = bounds
        let outcome = try Merge.apply(push, to: transaction.bag(of: scope.head.scope), in: context)
        if !outcome.pendingMerges.isEmpty { return nothing([], pendingMerges: outcome.pendingMerges) }
        if isWhole, let problem = outcome.receipts.lazy.compactMap(\.firstProblem).first { throw problem }
        if outcome.parcels.isEmpty, outcome.changes.isEmpty { return nothing(outcome.receipts) }
        let (head, sequences) = try transaction.append(outcome, to: scope, by: sender, at: now)
        return Scope.PushResult(
            receipts: outcome.receipts, before: scope.head, after: head, sequences: sequences,
            echoes: echoes(of: outcome, sequences, since: token),
            created: Set(outcome.changes.filter { $0.before?.sequence == nil }.map(\.uniqueID)), pendingMerges: [])
    }

    /// What a turn comes to that changes nothing.
    func nothing(_ receipts: [Receipt], pendingMerges: [PreparedTexts.PendingMerge] = []) -> Scope.PushResult {
        Scope.PushResult(
            receipts: receipts, before: scope.head, after: scope.head, sequences: [:], echoes: [:], created: [],
            pendingMerges: pendingMerges)
    }
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
        // What waited may have come from anybody.
        if let state = change.before { before[change.uniqueID] = state.sequence ?? .max }
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

extension Receipt {
    /// Why the first part of it was refused, if one was.
    fileprivate var firstProblem: Problem? {
        problem ?? fields.sorted { $0.key < $1.key }.lazy.compactMap(\.value.problem).first
    }
}
