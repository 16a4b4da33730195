import HesperModel
import HesperSQLite
import HesperStore
import NIOConcurrencyHelpers

/// Signals that the test sends and receives.
final class TestSignals: Signals {
    let events = AsyncStream.makeStream(of: SignalEvent.self)
    let sent = NIOLockedValueBox<[Signal]>([])

    func send(_ signals: [Signal]) { sent.withLockedValue { $0 += signals } }

    func listen(_ hear: @Sendable (SignalEvent) -> Void) async {
        for await event in events.stream { hear(event) }
    }
}

/// A SQLite store that pretends to be shared by several servers, and whose reads can fail.
struct SharedStore: Store {
    let store: SQLiteStore
    let signals: (any Signals)?
    /// The number of next reads that fail.
    let failures = NIOLockedValueBox(0)

    func read<T: Sendable>(_ body: @escaping @Sendable (any Snapshot) throws -> T) async throws -> T {
        let fails = failures.withLockedValue { failures in
            failures -= 1
            return failures >= 0
        }
        if fails { throw StoreError.unavailable("simulated outage") }
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
    func otherProcessesHaveCommitted() async throws -> Bool { throw StoreError.failed("not used in these tests") }
    var writers: Int { store.writers }
    var installation: Installation { store.installation }
    var uploadStage: (any UploadStage)? { nil }
}
