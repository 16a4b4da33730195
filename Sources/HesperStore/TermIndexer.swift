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
    /// While there is something to do and others commit, it takes a tenth of the writer's time, so that pushes hardly notice.
    static let restPerWork = 9
    /// Without commits it takes half of the time: other processes, whose commits are not counted, find the writer free.
    static let restPerWorkWhileIdle = 1
    /// How long a search waits at most for the index to catch up.
    public static let searchWait = Duration.milliseconds(500)
    private let commits: @Sendable () -> Int

    /// - Parameter commits: how many there were by others in this process: while the number stays, the writer is idle.
    public init(store: any Store, commits: @escaping @Sendable () -> Int = { 0 }) {
        self.store = store
        self.commits = commits
    }

    /// Brings one scope's index up to a sequence.
    public func index(_ scope: ScopeID, upTo sequence: Int64) async throws {
        while try await store.read({ try $0.indexedSequence(of: scope) }) < sequence {
            try Task.checkCancellation()
            let isDone = try await store.writeDerived { try $0.indexTerms(of: scope, limit: TermIndexer.batch) }
            if isDone { return }
        }
    }

    /// Brings one scope's index up to a sequence, if that takes no longer than ``searchWait``: what a search does first, so that it
    /// finds what was written just before. If it fails, the index stays as it is; ``run(failed:)`` meets the same error and
    /// tells of it.
    public func catchUp(_ scope: ScopeID, to sequence: Int64) async throws {
        guard try await store.read({ try $0.indexedSequence(of: scope) }) < sequence else { return }
        let (end, signal) = AsyncStream<Void>.makeStream()
        let work = Task {
            defer { signal.finish() }
            try await index(scope, upTo: sequence)
        }
        let timer = Task {
            defer { signal.finish() }
            try await Task.sleep(for: TermIndexer.searchWait)
        }
        for await _ in end {}
        // A batch that is under way is finished, and no other begun.
        work.cancel()
        timer.cancel()
    }

    /// Follows the commits of this process and of others until it is cancelled.
    /// - Parameter failed: told of an error, after which it tries again.
    public func run(failed: @Sendable (any Error) -> Void) async {
        var last: ScopeID?
        var seen = commits()
        while !Task.isCancelled {
            var rest = TermIndexer.pause
            do {
                let start = ContinuousClock.now
                if try await indexBatch(after: &last) {
                    let now = commits()
                    let share = now == seen ? TermIndexer.restPerWorkWhileIdle : TermIndexer.restPerWork
                    rest = min(rest, (ContinuousClock.now - start) * share)
                    seen = now
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
