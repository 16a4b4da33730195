import NIOConcurrencyHelpers

@testable import HesperPostgres

/// A database with empty tables, and the stores opened on it.
final class Stores: Sendable {
    let database: PostgresServer.Database
    private let opened = NIOLockedValueBox<[PostgresStore]>([])

    /// Limits the tests that create databases and connect at the same time.
    private static let semaphore = Semaphore(4)

    private init(_ database: PostgresServer.Database) { self.database = database }

    private static let template = Task {
        let database = try await PostgresServer.running.database()
        let store = try await PostgresStore(database.settings)
        await store.close()
        return database
    }

    /// Runs `body` with a copy of a migrated database. Closes all opened stores, also after an error.
    static func with<T: Sendable>(_ body: @Sendable (Stores) async throws -> T) async throws -> T {
        try await semaphore.run {
            let stores = Stores(try await PostgresServer.running.database(from: try await template.value.name))
            let result: Result<T, any Error>
            do { result = .success(try await body(stores)) } catch { result = .failure(error) }
            for store in stores.opened.withLockedValue({ $0 }) { await store.close() }
            return try result.get()
        }
    }

    /// Opens a store with its own connections, like another process.
    func open(
        _ change: (inout PostgresSettings) -> Void = { _ in }, log: (@Sendable (String) -> Void)? = nil
    ) async throws -> PostgresStore {
        var settings = database.settings
        settings.size = 4
        change(&settings)
        let store = try await PostgresStore(settings, log: log)
        opened.withLockedValue { $0.append(store) }
        return store
    }
}

/// Limits the number of concurrent tasks.
private actor Semaphore {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = count }

    func run<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T {
        if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
        defer { if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() } }
        return try await body()
    }
}
