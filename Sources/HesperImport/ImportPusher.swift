import HesperModel
import HesperStore

/// Pushes imported changes to an account.
struct ImportPusher: Sendable {
    let scope: Scope
    let quota: Int64?
    private let jobBytes: Int
    private let check: @Sendable (any Transaction) throws -> Void
    /// The node that counts as the sender of the edits.
    private let sender: NodeID
    /// The maximum number of attempts if the store is unavailable because other processes use it.
    private static let maximumAttempts = 5

    init(_ target: ImportTarget) {
        let store = target.store
        quota = target.quota
        jobBytes = target.pushSize.jobBytes
        check = target.check
        let queue =
            target.queue
            ?? PushQueue(store: store) { heads in
                // Informs the servers of the new changes, so that they notify their connected clients.
                store.signals?.send(heads.map { .committed($0.scope, $0.sequence) })
            }
        scope = Scope(
            target.scope, queue: queue, installation: store.installation, quota: quota, now: target.now)
        sender = target.sender ?? store.installation.node
    }

    func push(
        _ body: @escaping @Sendable (any Transaction, LockedScope, inout Stamp) throws -> Push
    ) async throws -> Scope.PushResult {
        let check = check
        return try await trying {
            try await scope.write(by: sender, bytes: jobBytes) { transaction, scope, stamp in
                try check(transaction)
                return try body(transaction, scope, &stamp)
            }
        }
    }

    /// Runs `body` in a transaction of the scope.
    func commit<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws -> T {
        let check = check
        return try await trying {
            try await scope.commit { transaction in
                try check(transaction)
                return try body(transaction)
            }
        }
    }

    /// Calls `body`, and retries it if the store is unavailable. `body` must be idempotent.
    private func trying<T>(_ body: () async throws -> T) async throws -> T {
        var attempt = 1
        while true {
            do {
                return try await body()
            } catch StoreError.unavailable(_) where attempt < ImportPusher.maximumAttempts {
                try await Task.sleep(for: .seconds(attempt))
                attempt += 1
            }
        }
    }
}
