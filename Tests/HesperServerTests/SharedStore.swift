import HesperModel
import HesperSQLite
import HesperStore
import NIOConcurrencyHelpers

/// Signals that the test says.
final class Wire: Signals {
    let heard = AsyncStream.makeStream(of: SignalEvent.self)
    let sent = NIOLockedValueBox<[Signal]>([])

    func send(_ signals: [Signal]) { sent.withLockedValue { $0 += signals } }

    func listen(_ hear: @Sendable (SignalEvent) -> Void) async {
        for await heard in heard.stream { hear(heard) }
    }
}

/// A store that others may share.
struct SharedStore: Store {
    let store: SQLiteStore
    let signals: (any Signals)?
    /// Fails so many reads.
    let failures = NIOLockedValueBox(0)

    func read<T: Sendable>(_ body: @escaping @Sendable (any Snapshot) throws -> T) async throws -> T {
        let fails = failures.withLockedValue { failures in
            failures -= 1
            return failures >= 0
        }
        if fails { throw StoreError.unavailable("it is away") }
        return try await store.read(body)
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws -> T {
        try await store.write(body)
    }

    func writeDerived<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws -> T {
        try await store.writeDerived(body)
    }

    func close() async throws { try store.close() }
    func session(of token: TokenHash) async throws -> Session? { try store.session(of: token) }
    func otherProcessesHaveCommitted() async throws -> Bool { throw StoreError.failed("nobody asks that") }
    var writers: Int { store.writers }
    var installation: Installation { store.installation }
    var uploadStage: (any UploadStage)? { nil }
}
