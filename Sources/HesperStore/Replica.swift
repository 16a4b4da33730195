/// A copy of the store that follows it, a moment behind: for reading alone. Nothing depends on it: where it has another
/// moment, or is away, whoever asks is given nil and asks the store.
public protocol Replica: Sendable {
    /// Reads one consistent moment in which a scope stands exactly where it stood in the store.
    /// - Parameters:
    ///   - head: where that is, as the store told just now.
    ///   - isIndexed: whether the index of terms must be filled up to there.
    ///   - body: what it did is of no account if the answer is nil.
    /// - Returns: nil if it has no such moment, or fails.
    /// - Throws: what `body` throws, if the replica is not to blame.
    func read<T: Sendable>(
        at head: ScopeHead, indexed isIndexed: Bool, _ body: @escaping @Sendable (any Snapshot) throws -> T
    ) async throws -> T?
    /// Looks after a replica that went away, until the task is cancelled. For one caller.
    func follow(_ tell: @Sendable (ReplicaNews) -> Void) async
}

/// What becomes of a replica.
public enum ReplicaNews: Sendable, Equatable {
    /// It is asked from now on.
    case found
    /// It is not asked for now; why, for a log.
    case lost(String)
}
