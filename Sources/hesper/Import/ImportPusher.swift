import HesperModel
import HesperStore

/// Pushes imported changes to an account, through a push queue of this process.
struct ImportPusher: Sendable {
    let scope: Scope
    let quota: Int64?
    /// The node of the edits: the installation, because no device is signed in.
    private let sender: NodeID
    /// The maximum number of attempts while other processes keep the store busy.
    private static let maximumAttempts = 5

    /// - Parameters:
    ///   - store: a store that servers and other commands may use at the same time.
    ///   - quota: the quota of accounts without their own quota, in bytes. Nil for no limit.
    init(store: any Store, scope: ScopeID, quota: Int64?) {
        self.quota = quota
        let queue = PushQueue(store: store) { heads in
            // Servers know which clients listen to the scope.
            store.signals?.send(heads.map { .committed($0.scope, $0.sequence) })
        }
        self.scope = Scope(scope, queue: queue, installation: store.installation, quota: quota, now: { Timestamp.now })
        sender = store.installation.node
    }

    func push(
        _ body: @escaping @Sendable (any Transaction, LockedScope, inout Stamp) throws -> Push
    ) async throws -> Scope.PushResult {
        try await trying { try await scope.write(by: sender, body) }
    }

    /// Retries `body` while the store is unavailable. `body` must be idempotent.
    func trying<T>(_ body: () async throws -> T) async throws -> T {
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
