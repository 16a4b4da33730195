import HesperModel

/// Updates the term index after commits. Doing so in the same transactions would halve the write rate (storage.md, A
/// transaction).
public actor TermIndexer {
    private let store: any Store
    private let throttle = WriterThrottle()
    /// The maximum number of objects in a slice, the part of one scope that is indexed at a time.
    static let objectsPerSlice = 200
    /// A slice ends with the object that reaches this number of bytes, so that pushes do not wait long for the writer.
    public static let bytesPerSlice = 64 << 10
    /// The maximum number of scopes that are read at a time, of which each is indexed by one slice.
    static let scopes = 20
    /// The time between two polls of the database when there was nothing to do.
    static let pause = Duration.milliseconds(500)
    public static let pauseAfterFailure = Duration.seconds(5)
    /// The ratio of rest to work while there are no commits by this process. The rest leaves the writer to other processes, whose
    /// commits are not counted. While there are commits, ``WriterThrottle/restPerWork`` applies.
    static let restPerWorkWhileIdle = 1
    /// The longest time that a search waits for the index to catch up.
    public static let searchWait = Duration.milliseconds(500)
    private let commits: @Sendable () -> Int
    private var lastCommits: Int
    /// The last scope that was indexed.
    private var lastScope: ScopeID?

    /// - Parameter commits: returns the number of other commits by this process. The writer is idle while it does not change.
    public init(store: any Store, commits: @escaping @Sendable () -> Int = { 0 }) {
        self.store = store
        self.commits = commits
        lastCommits = commits()
    }

    /// Updates the index of a scope up to a sequence number.
    public nonisolated func index(_ scope: ScopeID, upTo sequence: Int64) async throws {
        while try await store.read({ try $0.indexedSequence(of: scope) }) < sequence {
            try Task.checkCancellation()
            let isDone = try await store.writeDerived {
                try $0.indexTerms(of: scope, limit: TermIndexer.objectsPerSlice)
            }
            if isDone { return }
        }
    }

    /// Updates the index of a scope up to a sequence number, for at most ``searchWait``. Called before a search, so that it
    /// finds recent changes. Errors are ignored, because ``step()`` will report them.
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
        // A running slice is completed, but no further one is started.
        work.cancel()
        timer.cancel()
    }

    /// Indexes a slice of each of the next scopes that are behind.
    /// - Returns: the time until the next step, which is zero while there is more to index.
    public func step() async throws -> Duration {
        let now = commits()
        let rest = now == lastCommits ? TermIndexer.restPerWorkWhileIdle : WriterThrottle.restPerWork
        lastCommits = now
        return try await indexSlices(restPerWork: rest) ? .zero : TermIndexer.pause
    }

    /// Indexes a slice of each of the next scopes that are behind, in round-robin order, so that scopes with continuous writes
    /// do not delay others.
    /// - Returns: whether there was anything to index.
    private func indexSlices(restPerWork: Int) async throws -> Bool {
        let start = lastScope
        let scopes = try await store.read { snapshot in
            let next = try snapshot.scopesToIndex(after: start, limit: TermIndexer.scopes)
            return try next.isEmpty && start != nil
                ? snapshot.scopesToIndex(after: nil, limit: TermIndexer.scopes) : next
        }
        lastScope = scopes.last
        // If scopes are locked independently, each is indexed in its own transaction, so that none stays locked for the others.
        var failure: (any Error)?
        for group in store.locksScopesIndependently ? scopes.map({ [$0] }) : [scopes] {
            do {
                try await index(group, restPerWork: restPerWork)
            } catch {
                try Task.checkCancellation()
                failure = error
                // A note that cannot be read must stop only the indexing of its own scope.
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
