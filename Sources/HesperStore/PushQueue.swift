import HesperModel

/// Group commit: what arrives while a commit is under way goes into the next one together, so that one fsync serves many
/// (storage.md, A transaction). There is no timer: an idle server commits at once.
public actor PushQueue {
    private let store: any Store
    private let committed: @Sendable ([ScopeHead]) -> Void
    private var waiting: [Job] = []
    private var isCommitting = false

    /// Jobs that share one commit at most.
    static let groupLimit = 512

    /// One thing to write, and who waits for it.
    private struct Job: Sendable {
        let scope: ScopeID
        let run: @Sendable (any Transaction) throws -> any Sendable
        let done: CheckedContinuation<any Sendable, any Error>
    }

    /// - Parameter committed: told after each commit which scopes it moved on, each once.
    public init(store: any Store, committed: @escaping @Sendable ([ScopeHead]) -> Void = { _ in }) {
        self.store = store
        self.committed = committed
    }

    /// Does `body` in a transaction with others, of which none is harmed if it throws; returns when it is durable.
    /// - Parameter body: done again if another of the transaction throws.
    func submit<T: Sendable>(
        to scope: ScopeID, _ body: @escaping @Sendable (any Transaction) throws -> T
    ) async throws -> T {
        let value = try await withCheckedThrowingContinuation { done in
            waiting.append(Job(scope: scope, run: body, done: done))
            guard !isCommitting else { return }
            isCommitting = true
            Task { await commitAll() }
        }
        guard let value = value as? T else { throw Problem(.internalError, "A commit returned another job's value.") }
        return value
    }

    private func commitAll() async {
        while !waiting.isEmpty {
            // Scopes are locked in the order of their IDs, within one in the order of arrival.
            let group = waiting.prefix(PushQueue.groupLimit).enumerated()
                .sorted { ($0.element.scope, $0.offset) < ($1.element.scope, $1.offset) }.map(\.element)
            waiting.removeFirst(group.count)
            await commit(group)
        }
        isCommitting = false
    }

    /// Hardly ever does a job throw, and a savepoint costs a copy of every page that is changed under it. So they do
    /// without, and only if one throws all is undone, and done again with a savepoint each.
    private func commit(_ group: [Job]) async {
        do {
            let values = try await store.write { transaction in try group.map { try $0.run(transaction) } }
            for (job, value) in zip(group, values) { job.done.resume(returning: value) }
            announce(values)
        } catch let error where group.count == 1 || (error as? StoreError)?.isUnavailable == true {
            for job in group { job.done.resume(throwing: error) }
        } catch {
            await commitApart(group)
        }
    }

    private func commitApart(_ group: [Job]) async {
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
            for (job, result) in zip(group, results) { job.done.resume(with: result) }
            announce(results.compactMap { try? $0.get() })
        } catch {
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
