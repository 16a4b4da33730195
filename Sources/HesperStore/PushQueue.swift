import HesperModel

/// Group commit: what arrives while commits are under way goes into the next one together, so that one fsync serves many
/// (storage.md, A transaction). There is no timer: an idle server commits at once.
///
/// As many commits are under way as the store has writers. A scope is never in two of them: its pushes would only wait for
/// each other inside the store.
public actor PushQueue {
    private let store: any Store
    private let committed: @Sendable ([ScopeHead]) -> Void
    private var waiting: [Job] = []
    /// Scopes that a commit which is under way writes to.
    private var busy: Set<ScopeID> = []
    private var commits = 0
    /// How commits go.
    public nonisolated let meter = CommitMeter()

    /// Jobs that share one commit at most.
    static let groupLimit = 512

    /// One thing to write, and who waits for it.
    private struct Job: Sendable {
        let scope: ScopeID
        let objects: [UniqueID]
        let run: @Sendable (any Transaction) throws -> any Sendable
        let done: CheckedContinuation<any Sendable, any Error>
    }

    /// - Parameter committed: told after each commit which scopes it moved on, each once.
    public init(store: any Store, committed: @escaping @Sendable ([ScopeHead]) -> Void = { _ in }) {
        self.store = store
        self.committed = committed
    }

    /// Does `body` in a transaction with others, of which none is harmed if it throws; returns when it is durable.
    /// - Parameters:
    ///   - objects: what `body` will ask for, as far as it is known.
    ///   - body: done again if another of the transaction throws.
    func submit<T: Sendable>(
        to scope: ScopeID, touching objects: [UniqueID] = [], _ body: @escaping @Sendable (any Transaction) throws -> T
    ) async throws -> T {
        let value = try await withCheckedThrowingContinuation { done in
            waiting.append(Job(scope: scope, objects: objects, run: body, done: done))
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
            guard !group.isEmpty else { break }
            let scopes = Set(group.map(\.scope))
            busy.formUnion(scopes)
            // What this one leaves may have waited for it alone.
            beginCommitIfFree()
            await commit(group)
            busy.subtract(scopes)
        }
        commits -= 1
    }

    /// Takes what waits for scopes that are free: those that arrived first, and no more of them than leaves as many to each
    /// commit that could begin now. Of the others none is free soon: what is done together costs less.
    /// Scopes are locked in the order of their IDs, within one in the order of arrival.
    private func nextGroup() -> [Job] {
        let free = Set(waiting.lazy.map(\.scope)).subtracting(busy).count
        let idle = store.writers - commits + 1
        let share = (free + idle - 1) / idle
        var group: [Job] = []
        var rest: [Job] = []
        var taken: Set<ScopeID> = []
        for job in waiting {
            let fits = taken.count < share || taken.contains(job.scope)
            if fits, group.count < PushQueue.groupLimit, !busy.contains(job.scope) {
                group.append(job)
                taken.insert(job.scope)
            } else {
                rest.append(job)
            }
        }
        waiting = rest
        return group.enumerated()
            .sorted { ($0.element.scope, $0.offset) < ($1.element.scope, $1.offset) }.map(\.element)
    }

    /// Hardly ever does a job throw, and a savepoint costs a copy of every page that is changed under it. So they do
    /// without, and only if one throws all is undone, and done again with a savepoint each.
    private func commit(_ group: [Job]) async {
        let start = ContinuousClock.now
        do {
            let values = try await store.write { transaction in
                try transaction.foresee(group.map { ($0.scope, $0.objects) })
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
        for case let applied as Scope.Applied in values where applied.after.sequence > applied.before.sequence {
            // A scope's pushes stand in the order in which they moved it on.
            heads[applied.after.scope] = applied.after
        }
        if !heads.isEmpty { committed(Array(heads.values)) }
    }
}
