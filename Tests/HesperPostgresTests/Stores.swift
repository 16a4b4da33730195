import NIOConcurrencyHelpers

@testable import HesperPostgres

/// A database that has all tables and nothing in them, and the stores that were opened on it.
final class Stores: Sendable {
    let database: PostgresServer.Database
    private let opened = NIOLockedValueBox<[PostgresStore]>([])

    /// A server makes databases, and lets connections in, at its own pace.
    private static let turns = Turns(4)

    private init(_ database: PostgresServer.Database) { self.database = database }

    private static let template = Task {
        let database = try await PostgresServer.running.database()
        let store = try await PostgresStore(database.settings)
        await store.close()
        return database
    }

    /// Does `body` with a copy of a database that was brought to this version once; closes whatever it opened, come what
    /// may.
    static func with<T: Sendable>(_ body: @Sendable (Stores) async throws -> T) async throws -> T {
        try await turns.take {
            let stores = Stores(try await PostgresServer.running.database(from: try await template.value.name))
            let result: Result<T, any Error>
            do { result = .success(try await body(stores)) } catch { result = .failure(error) }
            for store in stores.opened.withLockedValue({ $0 }) { await store.close() }
            return try result.get()
        }
    }

    /// Opens a store, as another process would.
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

/// Lets so many be at something at once.
private actor Turns {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = count }

    func take<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T {
        if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
        defer { if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() } }
        return try await body()
    }
}
