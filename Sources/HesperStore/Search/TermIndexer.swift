import HesperModel

/// Fills the index of terms behind the commits: in the transactions themselves it would halve the rate of writing
/// (storage.md, A transaction).
public actor TermIndexer {
    private let store: any Store
    private let throttle = WriterThrottle()
    /// The maximum number of objects in a slice, which is what one scope is indexed at a time.
    static let objectsPerSlice = 200
    /// A slice ends with the object that reaches this many bytes, so that pushes do not wait long for the writer.
    public static let bytesPerSlice = 64 << 10
    /// The maximum number of scopes that are looked up at a time, to be indexed in turn.
    static let scopes = 20
    /// The time between two looks at the store when there was nothing to do.
    static let pause = Duration.milliseconds(500)
    public static let pauseAfterFailure = Duration.seconds(5)
    /// While others commit, indexing rests nine times as long as it works, so that pushes hardly notice. Without commits it rests as
    /// long as it works: other processes, whose commits are not counted, find the writer free.
    static let restPerWorkWhileIdle = 1
    /// The longest time that a search waits for the index to catch up.
    public static let searchWait = Duration.milliseconds(500)
    private let commits: @Sendable () -> Int
    private var lastCommits: Int
    /// The scope where the last step stopped.
    private var lastScope: ScopeID?

    /// - Parameter commits: how many there were by others in this process: while the number stays, the writer is idle.
    public init(store: any Store, commits: @escaping @Sendable () -> Int = { 0 }) {
        self.store = store
        self.commits = commits
        lastCommits = commits()
    }

    /// Brings one scope's index up to a sequence.
    public nonisolated func index(_ scope: ScopeID, upTo sequence: Int64) async throws {
        while try await store.read({ try $0.indexedSequence(of: scope) }) < sequence {
            try Task.checkCancellation()
            let isDone = try await store.writeDerived {
                try $0.indexTerms(of: scope, limit: TermIndexer.objectsPerSlice)
            }
            if isDone { return }
        }
    }

    /// Brings one scope's index up to a sequence, if that takes no longer than ``searchWait``: what a search does first, so that it
    /// finds what was written just before. If it fails, the index stays as it is; ``step()`` meets the same error.
    public nonisolated func catchUp(_ scope: ScopeID, to sequence: Int64) async throws {
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

    /// Indexes a slice of the next scopes that are behind.
    /// - Returns: the time until the next step: zero while there is more to index.
    public func step() async throws -> Duration {
        let now = commits()
        let rest = now == lastCommits ? TermIndexer.restPerWorkWhileIdle : WriterThrottle.restPerWork
        lastCommits = now
        return try await indexSlices(restPerWork: rest) ? .zero : TermIndexer.pause
    }

    /// Indexes a slice of each of the next scopes that are behind, from where the last call stopped and round again: scopes
    /// that are written to without a pause do not keep others from being indexed.
    /// - Returns: whether there was anything to index.
    private func indexSlices(restPerWork: Int) async throws -> Bool {
        let start = lastScope
        let scopes = try await store.read { snapshot in
            let next = try snapshot.scopesToIndex(after: start, limit: TermIndexer.scopes)
            return try next.isEmpty && start != nil
                ? snapshot.scopesToIndex(after: nil, limit: TermIndexer.scopes) : next
        }
        lastScope = scopes.last
        // Where scopes are locked apart, each has a transaction of its own: none stays locked for the others.
        var failure: (any Error)?
        for group in store.locksScopesIndependently ? scopes.map({ [$0] }) : [scopes] {
            do {
                try await index(group, restPerWork: restPerWork)
            } catch {
                try Task.checkCancellation()
                failure = error
                // A note that cannot be read stops its own account's index, and no other.
                for scope in group where group.count > 1 { try? await index([scope], restPerWork: restPerWork) }
            }
        }
        if let failure { throw failure }
        return !scopes.isEmpty
    }

    private func index(_ scopes: [ScopeID], restPerWork: Int) async throws {
        try await throttle.write(scopes, to: store, restPerWork: restPerWork) { scope, transaction in
            _ = try transaction.indexTerms(of: scope, limit: TermIndexer.objectsPerSlice)
        }
    }
}
