import HesperModel

/// Merges pushes into a locked scope.
struct ScopeWriter {
    let scope: LockedScope
    /// The source of clocks for edits by the server.
    var stamp: Stamp
    private let transaction: any Transaction
    private let server: NodeID
    private let now: Timestamp

    /// Locks a scope.
    /// - Throws: ``Problem`` `unauthenticated` if the account was deleted.
    init(_ id: ScopeID, in transaction: any Transaction, _ installation: Installation, at now: Timestamp) throws {
        guard let scope = try transaction.lock(id) else {
            throw Problem(.unauthenticated, "The account was deleted.")
        }
        self.scope = scope
        self.transaction = transaction
        self.now = now
        server = installation.node
        stamp = Stamp(node: installation.node, last: scope.serverClock, wall: now)
    }

    /// Checks that the sender has not been revoked since its request was authenticated.
    /// - Throws: ``Problem`` `unauthenticated` if the sender has been revoked.
    func checkRevocation(of sender: NodeID) throws {
        guard try revocations(of: [sender]).isEmpty else {
            throw Problem(.unauthenticated, "The device was revoked.")
        }
    }

    /// The revocations of these devices. Revocations of other devices are not read, because a scope may have many.
    private func revocations(of nodes: Set<NodeID>) throws -> [Revocation] {
        guard scope.hasRevocations, !nodes.isEmpty else { return [] }
        return try transaction.revocations(of: nodes, in: scope.head.scope)
    }

    /// Merges a push and stores the outcome.
    /// - Parameters:
    ///   - isWhole: whether the push is atomic. If any part of an atomic push is refused, the refusal is thrown.
    ///   - limit: the quota in bytes; nil for no limit. Writes by the server itself have no limit.
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
        if !outcome.pendingMerges.isEmpty { return unchanged([], pendingMerges: outcome.pendingMerges) }
        if isWhole, let problem = outcome.receipts.lazy.compactMap(\.firstProblem).first { throw problem }
        if outcome.parcels.isEmpty, outcome.changes.isEmpty { return unchanged(outcome.receipts) }
        let (head, sequences) = try transaction.append(outcome, to: scope, by: sender, at: now)
        return Scope.PushResult(
            receipts: outcome.receipts, before: scope.head, after: head, sequences: sequences,
            echoes: echoes(of: outcome, sequences, since: token),
            created: Set(outcome.changes.filter { $0.before?.sequence == nil }.map(\.uniqueID)), pendingMerges: [])
    }

    /// The result of a push that changed nothing.
    func unchanged(_ receipts: [Receipt], pendingMerges: [PreparedTexts.PendingMerge] = []) -> Scope.PushResult {
        Scope.PushResult(
            receipts: receipts, before: scope.head, after: scope.head, sequences: [:], echoes: [:], created: [],
            pendingMerges: pendingMerges)
    }
}

/// The changed objects that need not be sent back to the sender, with their sequence numbers. For each of these objects, all of
/// the sender's changes were applied, and the object was new or had not changed since the sender's token.
private func echoes(
    of outcome: MergeOutcome, _ sequences: [UniqueID: Int64], since token: SyncToken?
) -> [UniqueID: Int64] {
    // During a first sync, it is not known which existing objects have been changed by other devices, so only new objects can be
    // echoes.
    var read: Int64 = 0
    if case .after(let sequence)? = token?.position { read = sequence }
    var echoes: [UniqueID: Int64] = [:]
    var before: [UniqueID: Int64] = [:]
    for change in outcome.changes {
        // An object that lacks a required field does not exist yet, but the scope may already store edits of it from other
        // devices. Its sequence number is nil. It must not become an echo.
        if let state = change.before { before[change.uniqueID] = state.sequence ?? .max }
    }
    // The server adds the size and the digest of the bytes to attachments. The sender needs them, so attachments are not echoes.
    for receipt in outcome.receipts where receipt.status == .applied && receipt.objectType != ObjectType.attachment.name
    {
        guard let id = receipt.uniqueID, let sequence = sequences[id], before[id] ?? 0 <= read else { continue }
        echoes[id] = sequence
    }
    // A push may contain an object twice. If any of its receipts is worse than `applied`, the object is not an echo.
    for receipt in outcome.receipts where receipt.status > .applied {
        if let id = receipt.uniqueID { echoes[id] = nil }
    }
    return echoes
}

extension Receipt {
    /// The first problem in the receipt, either of the whole element or of a field; nil if nothing was refused.
    fileprivate var firstProblem: Problem? {
        problem ?? fields.sorted { $0.key < $1.key }.lazy.compactMap(\.value.problem).first
    }
}
