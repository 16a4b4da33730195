import HesperModel
import HesperStore

/// The database has no Hesper tables.
public struct DatabaseEmpty: Error, Sendable {}

/// A store in a PostgreSQL database. Several servers may use it at once, each with its own connections.
///
///     let store = try await PostgresStore("postgresql://hesper@db1,db2/hesper?target_session_attrs=read-write")
///
/// It must be closed with ``close()`` before it is released.
public final class PostgresStore: Store {
    public let installation: Installation
    public let writers: Int
    public let locksScopesIndependently = true
    public var uploadStage: (any UploadStage)? { PostgresUploads(self) }
    private let pool: PostgresPool
    private let signalsOfServer: PostgresSignals
    private let lookups: SessionLookups
    private let log: (@Sendable (String) -> Void)?

    /// The share of the connections that commit pushes: the number of connections is divided by this number. Committing many pushes
    /// in a few transactions is cheaper than using more connections.
    private static let writerShare = 8

    /// Connects to the database and migrates it to this version.
    /// - Parameters:
    ///   - connectionString: a libpq connection string (`postgresql://…` or `key=value`) with one or more hosts.
    ///   - connections: the maximum number of connections. ``signals`` uses two more.
    ///   - createIfEmpty: whether to create the tables if there are none.
    /// - Throws: ``StoreError``: `newerDatabase` if a later version of Hesper has migrated the database, `unavailable` if it
    ///   cannot be reached. ``DatabaseEmpty`` if there are no tables and `createIfEmpty` is false.
    public convenience init(
        _ connectionString: String, connections: Int = 16, createIfEmpty: Bool = true
    ) async throws {
        var settings = PostgresSettings(connectionString)
        settings.size = connections
        try await self.init(settings, createIfEmpty: createIfEmpty)
    }

    /// - Parameter log: a function that is called with the text of every statement, for tests.
    init(
        _ settings: PostgresSettings, createIfEmpty: Bool = true, log: (@Sendable (String) -> Void)? = nil
    ) async throws {
        let pool = PostgresPool(settings)
        self.pool = pool
        lookups = SessionLookups(pool: pool, log: log)
        self.log = log
        // While one writer commits a large push, another one commits the small pushes.
        writers = min(settings.writers, max(2, settings.size / PostgresStore.writerShare))
        do {
            installation = try await pool.run { connection in
                try Migrations.run(on: connection, createIfEmpty: createIfEmpty)
                return try PostgresSnapshot(connection).installation()
            }
        } catch {
            await pool.close()
            throw error
        }
        signalsOfServer = PostgresSignals(settings, of: installation, log: log)
    }

    /// The version of the tables that this program reads and writes.
    public static var knownVersion: Int { Migrations.version }

    /// Reads the version of a database's tables, without migrating them; 0 if there are none.
    /// - Throws: ``StoreError``, as `init` does.
    public static func version(of connectionString: String) throws -> Int {
        var settings = PostgresSettings(connectionString)
        settings.takesUseLock = false
        return try mappingErrors { try Migrations.found(on: Connection(settings)) }
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

    /// Always false: servers detect commits of other servers by signals. Every few seconds, they also query the scopes to which
    /// clients listen.
    public func otherProcessesHaveCommitted() async throws -> Bool { false }

    /// Closes all connections after the running requests have ended.
    public func close() async {
        await signalsOfServer.close()
        await pool.close()
    }

    /// Runs `body` on a connection of the pool.
    /// - Parameter writes: whether `body` commits changes.
    func run<T: Sendable>(
        writes: Bool = false, _ body: @escaping @Sendable (Connection) throws -> T
    ) async throws -> T {
        try await pool.run(writes: writes) { [log] connection in
            connection.log = log
            return try body(connection)
        }
    }
}
