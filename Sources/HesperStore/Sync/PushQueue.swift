import HesperModel

/// Group commit: what arrives while commits are under way goes into the next one together, so that one fsync serves many
/// (storage.md, A transaction). There is no timer: an idle server commits at once.
///
/// As many commits are under way as the store has writers. A scope is never in two of them: its pushes would only wait for
/// each other inside the store.
///
/// An account cannot delay others' pushes for long: scopes take turns, a commit holds ``groupBytes`` of pushes or one larger push,
/// and after a larger one only smaller ones are committed for as long as that took.
public actor PushQueue {
    private let store: any Store
    private let committed: @Sendable ([ScopeHead]) -> Void
    private var waiting: [Job] = []
    /// Scopes that a commit which is under way writes to.
    private var busy: Set<ScopeID> = []
    private var commits = 0
    /// Jobs that were ever submitted, for tests.
    package private(set) var submissions = 0
    /// Commits of large pushes that are under way.
    private var largeCommits = 0
    /// When the next large push may be committed.
    private var nextLarge = ContinuousClock.now
    private let slow = SlowScopes()
    /// How commits go.
    public nonisolated let meter = CommitMeter()

    /// The maximum number of jobs that share a commit.
    static let groupLimit = 512
    /// The maximum number of bytes that share a commit. A job of more bytes is large: it has a commit of its own.
    static let groupBytes = 1 << 20

    /// One thing to write, and who waits for it.
    private struct Job: Sendable {
        let scope: ScopeID
        let objects: [UniqueID]
        let bytes: Int
        let run: @Sendable (any Transaction) throws -> any Sendable
        let done: CheckedContinuation<any Sendable, any Error>
    }

    /// Few bytes may be much work, if they name large objects.
    private func isLarge(_ job: Job) -> Bool { job.bytes > PushQueue.groupBytes || slow.contains(job.scope) }

    /// - Parameter committed: told after each commit which scopes it moved on, each once.
    public init(store: any Store, committed: @escaping @Sendable ([ScopeHead]) -> Void = { _ in }) {
        self.store = store
        self.committed = committed
    }

    /// Does `body` in a transaction with others, of which none is harmed if it throws; returns when it is durable.
    /// - Parameters:
    ///   - objects: what `body` will ask for, as far as it is known.
    ///   - bytes: about how much it will write.
    ///   - body: done again if another of the transaction throws.
    func submit<T: Sendable>(
        to scope: ScopeID, touching objects: [UniqueID] = [], bytes: Int = 0,
        _ body: @escaping @Sendable (any Transaction) throws -> T
    ) async throws -> T {
        submissions += 1
        let value = try await withCheckedThrowingContinuation { done in
            waiting.append(
                Job(scope: scope, objects: objects, bytes: bytes, run: slow.measuring(scope, body), done: done))
            beginCommitIfFree()
        }
        guard let value = value as? T else { throw Problem(.internalError, "A commit returned another job's value.") }
        return value
    }

    private func beginCommitIfFree() {
        guard commits < store.writers, waiting.contains(where: { !busy.contains($0.scope) }) else { return }
        commits += 1
        Task { await commitAll() }
    }

    /// One of the commits that are under way at once: on and on, until nothing waits that it could take.
    private func commitAll() async {
        while true {
            let group = nextGroup()
            guard let first = group.first else { break }
            let scopes = Set(group.map(\.scope))
            busy.formUnion(scopes)
            let isLarge = isLarge(first)
            if isLarge { largeCommits += 1 }
            // What this one leaves may have waited for it alone.
            beginCommitIfFree()
            let start = ContinuousClock.now
            await commit(group)
            busy.subtract(scopes)
            if isLarge { largeCommits -= 1 }
            // A job may turn out to be large.
            if group.contains(where: self.isLarge) { delayLarge(.now - start) }
        }
        commits -= 1
    }

    /// Leaves the writer to smaller jobs for some time; those that arrive meanwhile begin at once.
    private func delayLarge(_ duration: Duration) {
        let next = ContinuousClock.now + duration
        nextLarge = next
        Task {
            while ContinuousClock.now < next { try? await Task.sleep(until: next, clock: .continuous) }
            beginCommitIfFree()
        }
    }

    /// Takes jobs of scopes that are free out of ``waiting``: one large job, or what fits of the others.
    private func nextGroup() -> [Job] {
        let free = waiting.indices.filter { !busy.contains(waiting[$0].scope) }
        let small = free.filter { !isLarge(waiting[$0]) }
        // Large jobs leave writers to the others, where there are several.
        if ContinuousClock.now >= nextLarge, largeCommits < max(1, store.writers / 2),
            let large = free.first(where: { isLarge(waiting[$0]) }), small.isEmpty || large == free.first
        {
            return [waiting.remove(at: large)]
        }
        let taken = fitting(small)
        let group = taken.map { waiting[$0] }
        let indices = Set(taken)
        waiting = waiting.indices.filter { !indices.contains($0) }.map { waiting[$0] }
        return group
    }

    /// Those of the waiting jobs that go into one commit: the first job of each scope, then the second of each, and so on, of no more
    /// scopes than leaves as many to each commit that could begin now. Of the others none is free soon: what is done together
    /// costs less.
    /// - Returns: their indices, by scope, as scopes are locked in that order, and within one in the order of arrival.
    private func fitting(_ jobs: [Int]) -> [Int] {
        var turns: [ScopeID: Int] = [:]
        var ordered: [(turn: Int, index: Int)] = []
        for index in jobs {
            ordered.append((turns[waiting[index].scope, default: 0], index))
            turns[waiting[index].scope, default: 0] += 1
        }
        ordered.sort { $0 < $1 }
        let idle = store.writers - commits + 1
        let share = (turns.count + idle - 1) / idle
        var (taken, scopes, bytes): ([Int], Set<ScopeID>, Int) = ([], [], 0)
        for (_, index) in ordered where taken.count < PushQueue.groupLimit {
            let job = waiting[index]
            guard scopes.count < share || scopes.contains(job.scope) else { continue }
            guard taken.isEmpty || bytes + job.bytes <= PushQueue.groupBytes else { break }
            taken.append(index)
            scopes.insert(job.scope)
            bytes += job.bytes
        }
        return taken.sorted { (waiting[$0].scope, $0) < (waiting[$1].scope, $1) }
    }

    /// Hardly ever does a job throw, and a savepoint costs a copy of every page that is changed under it. So they do
    /// without, and only if one throws all is undone, and done again with a savepoint each.
    private func commit(_ group: [Job]) async {
        let start = ContinuousClock.now
        do {
            let values = try await store.write { transaction in
                try transaction.prefetch(group.map { ($0.scope, $0.objects) })
                return try group.map { try $0.run(transaction) }
            }
            meter.committed(group.count, in: .now - start)
            for (job, value) in zip(group, values) { job.done.resume(returning: value) }
            announce(values)
        } catch let error where group.count == 1 || (error as? StoreError)?.isUnavailable == true {
            if error is StoreError { meter.failed() }
            for job in group { job.done.resume(throwing: error) }
        } catch {
            await commitApart(group)
        }
    }

    private func commitApart(_ group: [Job]) async {
        let start = ContinuousClock.now
        do {
            let results = try await store.write { transaction in
                try group.map { job in
                    do {
                        return Result<any Sendable, any Error>.success(
                            try transaction.savepoint { try job.run(transaction) })
                    } catch let error as StoreError where error.isUnavailable {
                        // The store itself failed: nothing that shares the transaction can be trusted to it.
                        throw error
                    } catch {
                        return .failure(error)
                    }
                }
            }
            meter.committed(group.count, in: .now - start)
            for (job, result) in zip(group, results) { job.done.resume(with: result) }
            announce(results.compactMap { try? $0.get() })
        } catch {
            meter.failed()
            for job in group { job.done.resume(throwing: error) }
        }
    }

    private func announce(_ values: [any Sendable]) {
        var heads: [ScopeID: ScopeHead] = [:]
        for case let applied as Scope.PushResult in values where applied.after.sequence > applied.before.sequence {
            // A scope's pushes stand in the order in which they moved it on.
            heads[applied.after.scope] = applied.after
        }
        if !heads.isEmpty { committed(Array(heads.values)) }
    }
}
