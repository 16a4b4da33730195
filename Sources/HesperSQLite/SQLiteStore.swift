import Foundation
import GRDB
import GRDBSQLite
import HesperModel
import HesperStore
import Synchronization

/// A store in a SQLite file in a data folder, with one connection that writes and a pool of connections that read. Other
/// processes may open the file as well.
///
///     let store = try SQLiteStore(folder: URL(filePath: "data"))
public final class SQLiteStore: Store {
    public let installation: Installation
    /// SQLite allows one writer at a time.
    public let writers = 1
    public let writerExecutor: (any TaskExecutor)? = WriterExecutor()
    /// This store has no upload stage: uploads are stored in the data folder, next to the database.
    public let uploadStage: (any UploadStage)? = nil
    /// Always nil, because only one server uses the file. Changes that commands make in other processes are detected with
    /// ``otherProcessesHaveCommitted()``.
    public let signals: (any Signals)? = nil
    private let pool: DatabasePool
    private let sessions: SessionReader
    private let reserve: DiskReserve
    private let commitDurability = CommitDurability()
    /// The most recently read `data_version` of the writer's connection. Commits of other connections change it.
    private let dataVersion = Atomic<Int64>(0)

    /// The path of the database file.
    var path: String { pool.path }

    /// The name of the database file.
    public static let fileName = "hesper.sqlite"

    /// Opens the database in a folder. Creates the folder and the database if they do not exist. Only their owner can access them.
    /// - Parameters:
    ///   - busyTimeout: the maximum time that a write waits for writes of other processes. Then it fails as `unavailable`.
    /// - Throws: ``StoreError``: `newerDatabase` if a later version of Hesper has migrated the database, `unavailable` if it
    ///   cannot be opened.
    public convenience init(folder: URL, busyTimeout: Duration = .seconds(10)) throws {
        try self.init(folder: folder, busyTimeout: busyTimeout, prepare: { _ in })
    }

    /// - Parameter prepare: a function that is called with each new connection. Tests use it to observe statements.
    init(
        folder: URL, busyTimeout: Duration = .seconds(10), prepare: @escaping @Sendable (Database) throws -> Void
    ) throws {
        let path = try SQLiteStore.makeFile(in: folder)
        let configuration = Connections.configuration(busyTimeout: busyTimeout, prepare: prepare)
        reserve = DiskReserve(folder: folder)
        do {
            (pool, installation) = try SQLiteStore.openPool(path, configuration, busyTimeout: busyTimeout)
            reserve.makeIfRoomy()
        } catch StoreError.full(let reason) {
            guard reserve.release() else { throw StoreError.full(reason) }
            (pool, installation) = try SQLiteStore.openPool(path, configuration, busyTimeout: busyTimeout)
        }
        sessions = try mappingErrors { try SessionReader(path: path, configuration: configuration) }
    }

    private static func openPool(
        _ path: String, _ configuration: Configuration, busyTimeout: Duration
    ) throws -> (DatabasePool, Installation) {
        try mappingErrors {
            try Connections.waitingForOthers(busyTimeout) {
                let pool = try DatabasePool(path: path, configuration: configuration)
                try pool.writeWithoutTransaction(Connections.setUpWriter)
                let installation = try pool.writeWithoutTransaction { database in
                    try Migrations.run(on: database)
                    return try SQLiteSnapshot(database).installation()
                }
                return (pool, installation)
            }
        }
    }

    private static func makeFile(in folder: URL) throws -> String {
        do {
            if !FileManager.default.fileExists(atPath: folder.path) {
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            }
        } catch {
            let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? POSIXError
            throw unusable(folder, cause.map { String(cString: strerror($0.code.rawValue)) } ?? "\(error)")
        }
        let path = folder.appending(path: fileName).path
        // The file is created here so that only its owner can access it. SQLite gives its auxiliary files the same mode. An
        // existing file must not be opened here, because closing it would release the locks that connections of this process have
        // on it (SQLite, How To Corrupt).
        let file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        if file >= 0 {
            try? FileHandle(fileDescriptor: file).close()
        } else if errno != EEXIST || access(path, R_OK | W_OK) != 0 {
            throw unusable(folder, String(cString: strerror(errno)))
        }
        guard access(folder.path, W_OK | X_OK) == 0 else { throw unusable(folder, String(cString: strerror(errno))) }
        return path
    }

    private static func unusable(_ folder: URL, _ reason: String) -> StoreError {
        .unavailable("\(folder.path) cannot be used for data: \(reason)")
    }

    public func read<T: Sendable>(_ body: @escaping @Sendable (any Snapshot) throws -> T) async throws -> T {
        do {
            return try await pool.read { try body(SQLiteSnapshot($0)) }
        } catch let error as DatabaseError {
            throw StoreError(error)
        }
    }

    public func write<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws -> T {
        try await onWriter { [commitDurability] database in
            try commitDurability.ensure(on: database)
            return try SQLiteTransaction.run(on: database, body)
        }
    }

    public func writeDerived<T: Sendable>(
        _ body: @escaping @Sendable (any Transaction) throws -> T
    ) async throws -> T {
        try await onWriter { [commitDurability] database in
            try commitDurability.suspend(on: database) { try SQLiteTransaction.run(on: database, body) }
        }
    }

    /// Interrupts the running statements of all connections.
    func interrupt() { pool.interrupt() }

    /// Runs `body` on the connection that writes. If the task is cancelled, `body` continues, because its transaction may
    /// contain the pushes of other requests.
    func onWriter<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await withTaskExecutorPreference(writerExecutor) { try useWriter(body) }
    }

    private func useWriter<T>(_ body: (Database) throws -> T) throws -> T {
        try mappingErrors { try pool.writeWithoutTransaction(body) }
    }

    /// Compares SQLite's `data_version` with the value from the previous call. The value is read on the connection that writes,
    /// because commits on the same connection do not change it (SQLite, PRAGMA data_version).
    public func otherProcessesHaveCommitted() async throws -> Bool {
        let version = try await onWriter { try Int64.fetchOne($0, sql: "PRAGMA data_version") ?? 0 }
        return dataVersion.exchange(version, ordering: .relaxed) != version
    }

    /// Reads the session on the caller's thread, without waiting for a connection of the pool.
    public func session(of token: TokenHash) throws -> Session? { try sessions.session(of: token) }

    /// Closes all connections. When the last process closes the database, SQLite copies the write-ahead log into the database
    /// file and removes the log.
    /// - Throws: ``StoreError`` if a read is still running.
    public func close() throws {
        try mappingErrors {
            try sessions.close()
            try pool.close()
            // The pool closes its readers last, and a reader cannot copy the write-ahead log into the database. So open and
            // close one more connection that can write.
            try DatabaseQueue(path: pool.path, configuration: pool.configuration).close()
        }
        // The reserve may fill the disk, so write it only if no other process needs the space for the write-ahead log.
        if access(path + "-shm", F_OK) != 0 { reserve.fill() }
    }

    /// Reads the value of a pragma on the writer's connection, for tests.
    func writerPragma(_ name: String) throws -> Int? {
        try mappingErrors { try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA \(name)") } }
    }
}
