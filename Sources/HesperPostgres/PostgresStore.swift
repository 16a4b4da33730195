import HesperModel
import HesperStore

/// There is a database, and nothing of Hesper's in it.
public struct DatabaseEmpty: Error, Sendable {}

/// A store in a PostgreSQL database: many servers on it at once, each with connections of its own.
///
///     let store = try await PostgresStore("postgresql://hesper@db1,db2/hesper?target_session_attrs=read-write")
///
/// Close it with ``close()`` before it goes.
public final class PostgresStore: Store {
    public let installation: Installation
    public let writers: Int
    public let locksScopesIndependently = true
    public var uploadStage: (any UploadStage)? { PostgresUploads(self) }
    private let pool: PostgresPool
    private let signalsOfServer: PostgresSignals
    private let lookups: SessionLookups
    private let log: (@Sendable (String) -> Void)?

    /// Of the pool's connections, commits have one in so many: few, each of more pushes, cost the least.
    private static let writerShare = 4

    /// Connects, and brings the database to this version.
    /// - Parameters:
    ///   - connectionString: any of libpq's: `postgresql://…` or `key=value`, one host or several.
    ///   - connections: how many it may have at once, but for the two of ``signals``.
    ///   - makes: whether to make the tables where there are none.
    /// - Throws: ``StoreError``: `newerDatabase` if a later Hesper has written it, `unavailable` if it can not be reached;
    ///   ``DatabaseEmpty``.
    public convenience init(
        _ connectionString: String, connections: Int = 16, making makes: Bool = true
    ) async throws {
        var settings = PostgresSettings(connectionString)
        settings.size = connections
        try await self.init(settings, making: makes)
    }

    /// - Parameter log: told of every statement, for tests.
    init(
        _ settings: PostgresSettings, making makes: Bool = true, log: (@Sendable (String) -> Void)? = nil
    ) async throws {
        let pool = PostgresPool(settings)
        self.pool = pool
        lookups = SessionLookups(pool: pool, log: log)
        self.log = log
        writers = max(1, settings.size / PostgresStore.writerShare)
        do {
            installation = try await pool.run { connection in
                try Migrations.run(on: connection, making: makes)
                return try PostgresSnapshot(connection).installation()
            }
        } catch {
            await pool.close()
            throw error
        }
        signalsOfServer = PostgresSignals(settings, of: installation, log: log)
    }

    public func read<T: Sendable>(_ body: @escaping @Sendable (any Snapshot) throws -> T) async throws -> T {
        try await run { connection in
            connection.enqueue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            let result = try body(PostgresSnapshot(connection))
            connection.enqueue("COMMIT")
            return result
        }
    }

    public func write<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws -> T {
        try await run(writes: true) { try PostgresTransaction.run(on: $0, body) }
    }

    public func writeDerived<T: Sendable>(
        _ body: @escaping @Sendable (any Transaction) throws -> T
    ) async throws -> T {
        try await run(writes: true) { try PostgresTransaction.run(on: $0, waitsForDisk: false, body) }
    }

    public func session(of token: TokenHash) async throws -> Session? {
        try await lookups.session(of: token)
    }

    public var signals: (any Signals)? { signalsOfServer }
    public var poolStatus: PoolStatus? { pool.status }

    /// Servers tell each other, and look after those who listen every few seconds.
    public func otherProcessesHaveCommitted() async throws -> Bool { false }

    /// Ends when all that is under way is done and all connections are closed.
    public func close() async {
        await signalsOfServer.close()
        await pool.close()
    }

    /// - Parameter writes: whether it commits something.
    func run<T: Sendable>(
        writes: Bool = false, _ body: @escaping @Sendable (Connection) throws -> T
    ) async throws -> T {
        try await pool.run(writes: writes) { [log] connection in
            connection.log = log
            return try body(connection)
        }
    }
}
