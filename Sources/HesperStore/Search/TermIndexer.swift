import HesperModel

/// Updates the term index after commits. If the commits themselves updated the index, the write rate would be half as high
/// (storage.md, A transaction).
public actor TermIndexer {
    private let store: any Store
    private let throttle = WriterThrottle()
    /// The maximum number of objects in a slice. A slice consists of the objects of one scope that one call of
    /// ``Transaction/indexTerms(of:limit:)`` indexes.
    static let objectsPerSlice = 200
    /// The size of a slice in bytes. A slice ends with the object that reaches this size, so that pushes do not wait long for the
    /// writer.
    public static let bytesPerSlice = 64 << 10
    /// The maximum number of scopes that are read at a time. One slice of each of them is indexed.
    static let scopes = 20
    /// The time between two polls of the database when no scope had to be indexed.
    static let pause = Duration.milliseconds(500)
    public static let pauseAfterFailure = Duration.seconds(5)
    /// The duration of the pause after a transaction, as a multiple of the transaction's duration. It applies while the indexer is
    /// the only part of this process that commits. A pause is necessary even then, because other processes may commit, and this
    /// process does not count their commits.
    static let restPerWorkWhileIdle = 1
    /// The same while other parts of this process commit: the indexer then uses a twentieth of the writer's time.
    static let restPerWork = 19
    /// The maximum time for which a search waits until the index is up to date.
    public static let searchWait = Duration.milliseconds(500)
    private let commits: @Sendable () -> Int
    private var lastCommits: Int
    /// The scope that was indexed most recently; nil at the start.
    private var lastScope: ScopeID?

    /// - Parameter commits: returns the number of commits by this process, without the commits of the indexer. If the number has
    ///   changed since the previous step, ``restPerWork`` determines the length of the pauses. Otherwise,
    ///   ``restPerWorkWhileIdle`` determines it.
    public init(store: any Store, commits: @escaping @Sendable () -> Int = { 0 }) {
        self.store = store
        self.commits = commits
        lastCommits = commits()
    }

    /// Updates the index of a scope until it includes all changes up to a sequence number.
    public nonisolated func index(_ scope: ScopeID, upTo sequence: Int64) async throws {
        while try await store.read({ try $0.indexedSequence(of: scope) }) < sequence {
            try Task.checkCancellation()
            let isDone = try await store.writeDerived {
                try $0.indexTerms(of: scope, limit: TermIndexer.objectsPerSlice)
            }
            if isDone { return }
        }
    }

    /// Updates the index of a scope up to a sequence number, for at most ``searchWait``. Called before a search, so that the
    /// search finds recent changes. Errors of the update are ignored, because ``step()`` reports them too.
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
        // The cancelled task completes the slice that it is indexing, and starts no further slice.
        work.cancel()
        timer.cancel()
    }

    /// Indexes one slice of each of the next scopes whose index is not up to date.
    /// - Returns: the time until the next step, which is zero while there is more to index.
    public func step() async throws -> Duration {
        let now = commits()
        let rest = now == lastCommits ? TermIndexer.restPerWorkWhileIdle : TermIndexer.restPerWork
        lastCommits = now
        return try await indexSlices(restPerWork: rest) ? .zero : TermIndexer.pause
    }

    /// Indexes one slice of each of the next scopes whose index is not up to date. Scopes are taken in round-robin order, so that
    /// a scope with continuous writes does not delay the other scopes.
    /// - Returns: whether there was anything to index.
    private func indexSlices(restPerWork: Int) async throws -> Bool {
        let start = lastScope
        let scopes = try await store.read { snapshot in
            let next = try snapshot.scopesToIndex(after: start, limit: TermIndexer.scopes)
            return try next.isEmpty && start != nil
                ? snapshot.scopesToIndex(after: nil, limit: TermIndexer.scopes) : next
        }
        lastScope = scopes.last
        // If scopes are locked independently, each scope is indexed in a transaction of its own, so that no scope stays locked
        // while other scopes are indexed.
        var failure: (any Error)?
        for group in store.locksScopesIndependently ? scopes.map({ [$0] }) : [scopes] {
            do {
                try await index(group, restPerWork: restPerWork)
            } catch {
                try Task.checkCancellation()
                failure = error
                // An error in one scope, such as a note that cannot be read, must not stop the indexing of the other scopes. So
                // the scopes are indexed again one by one.
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
