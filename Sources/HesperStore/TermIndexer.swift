import HesperModel

/// Fills the index of terms behind the commits: in the transactions themselves it would halve the rate of writing
/// (storage.md, A transaction).
public struct TermIndexer: Sendable {
    private let store: any Store
    /// Objects at a time: few, so that pushes do not wait long for the writer.
    static let batch = 200
    /// Scopes that are looked after in turn. With one writer they share a commit, as an object of each costs less than a commit
    /// for each; else each has its own, and what was written to its row is never held for the others' sake.
    static let scopes = 20
    /// Between two looks at the store when there was nothing to do.
    static let pause = Duration.milliseconds(500)
    static let pauseAfterFailure = Duration.seconds(5)
    /// While there is something to do it takes a tenth of the writer's time, so that pushes hardly notice.
    static let restPerWork = 9

    public init(store: any Store) { self.store = store }

    /// Brings one scope's index up to a sequence: what a search does first.
    public func index(_ scope: ScopeID, upTo sequence: Int64) async throws {
        while try await store.read({ try $0.indexedSequence(of: scope) }) < sequence {
            let isDone = try await store.writeDerived { try $0.indexTerms(of: scope, limit: TermIndexer.batch) }
            if isDone { return }
        }
    }

    /// Follows the commits of this process and of others until it is cancelled.
    /// - Parameter failed: told of an error, after which it tries again.
    public func run(failed: @Sendable (any Error) -> Void) async {
        var last: ScopeID?
        while !Task.isCancelled {
            var rest = TermIndexer.pause
            do {
                let start = ContinuousClock.now
                if try await indexBatch(after: &last) {
                    rest = min(rest, (ContinuousClock.now - start) * TermIndexer.restPerWork)
                }
            } catch is CancellationError {
                return
            } catch {
                failed(error)
                rest = TermIndexer.pauseAfterFailure
            }
            try? await Task.sleep(for: rest)
        }
    }

    /// A batch of what is behind, from where the last one stopped and round again: scopes that are written without a pause
    /// hold up no other.
    /// - Returns: whether there was anything.
    private func indexBatch(after last: inout ScopeID?) async throws -> Bool {
        let start = last
        let scopes = try await store.read { snapshot in
            let next = try snapshot.scopesToIndex(after: start, limit: TermIndexer.scopes)
            return try next.isEmpty && start != nil
                ? snapshot.scopesToIndex(after: nil, limit: TermIndexer.scopes) : next
        }
        last = scopes.last
        guard !scopes.isEmpty else { return false }
        let limit = TermIndexer.batch / scopes.count
        for turn in store.locksScopesApart ? scopes.map({ [$0] }) : [scopes] {
            try await store.writeDerived { transaction in
                for scope in turn { _ = try transaction.indexTerms(of: scope, limit: limit) }
            }
        }
        return true
    }
}
