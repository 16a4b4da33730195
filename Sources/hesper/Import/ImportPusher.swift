import HesperModel
import HesperStore

/// Pushes imported changes to an account. This process writes the changes itself, through its own push queue.
struct ImportPusher: Sendable {
    let scope: Scope
    let quota: Int64?
    /// The node that counts as the sender of the edits.
    private let sender: NodeID
    /// The maximum number of attempts if the store is unavailable because other processes use it.
    private static let maximumAttempts = 5

    /// - Parameters:
    ///   - store: the store of the account. Servers and other commands may use it at the same time.
    ///   - sender: the device or access token that sends the edits; nil for the installation, if no device is signed in.
    ///   - quota: the quota of accounts that do not have a quota of their own, in bytes; nil for no limit.
    init(store: any Store, scope: ScopeID, by sender: NodeID? = nil, quota: Int64?) {
        self.quota = quota
        let queue = PushQueue(store: store) { heads in
            // Signals inform the servers of the new changes, so that the servers can notify their connected clients.
            store.signals?.send(heads.map { .committed($0.scope, $0.sequence) })
        }
        self.scope = Scope(scope, queue: queue, installation: store.installation, quota: quota, now: { Timestamp.now })
        self.sender = sender ?? store.installation.node
    }

    func push(
        _ body: @escaping @Sendable (any Transaction, LockedScope, inout Stamp) throws -> Push
    ) async throws -> Scope.PushResult {
        try await trying { try await scope.write(by: sender, body) }
    }

    /// Calls `body`, and retries it if the store is unavailable. `body` must be idempotent.
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
