import HesperModel
import HesperStore

/// What brings pushes of an import into an account: a queue of its own beside that of a server.
struct ImportPusher: Sendable {
    let scope: Scope
    let quota: Int64?
    /// Nobody has signed in: the installation itself brings the edits.
    private let sender: NodeID
    /// How often a push is tried while other processes keep the store busy.
    private static let tries = 5

    /// - Parameter store: which server or commands may be using too.
    /// - Parameter quota: how many bytes an account may store that has no quota of its own; nil for any number.
    init(store: any Store, scope: ScopeID, quota: Int64?) {
        self.quota = quota
        let queue = PushQueue(store: store) { heads in
            // Who listens where, only servers know.
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

    /// Does something that the store may be too busy for just now. Doing it again must change nothing.
    func trying<T>(_ body: () async throws -> T) async throws -> T {
        var attempt = 1
        while true {
            do {
                return try await body()
            } catch StoreError.unavailable(_) where attempt < ImportPusher.tries {
                try await Task.sleep(for: .seconds(attempt))
                attempt += 1
            }
        }
    }
}
