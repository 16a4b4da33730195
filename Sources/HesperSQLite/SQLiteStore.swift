import Foundation
import GRDB
import GRDBSQLite
import HesperModel
import HesperStore
import Synchronization

/// A store in one SQLite file of a data folder: one writer, a pool of readers, both beside those of other processes.
///
///     let store = try SQLiteStore(folder: URL(filePath: "data"))
public final class SQLiteStore: Store {
    public let installation: Installation
    /// SQLite has one writer, whatever one does.
    public let writers = 1
    /// Who has the file has the folder.
    public let uploadStage: (any UploadStage)? = nil
    /// One server has the file; what commands do beside it, it notices (``otherProcessesHaveCommitted()``).
    public let signals: (any Signals)? = nil
    private let pool: DatabasePool
    private let sessions: SessionReader
    private let reserve: Reserve
    private let commitWaits = CommitWaits()
    /// What the writer last said of the commits of other processes.
    private let dataVersion = Atomic<Int64>(0)

    /// Where the database's file is.
    var path: String { pool.path }

    /// The name of the database in its folder.
    public static let fileName = "hesper.sqlite"

    /// Opens the database of a folder; makes both, for their owner's eyes only, if they are missing.
    /// - Parameters:
    ///   - busyTimeout: how long a write waits for other processes' writes before it is `unavailable`.
    /// - Throws: ``StoreError``: `newerDatabase` if a later Hesper has written it, `unavailable` if it can not be opened.
    public convenience init(folder: URL, busyTimeout: Duration = .seconds(10)) throws {
        try self.init(folder: folder, busyTimeout: busyTimeout, prepare: { _ in })
    }

    /// - Parameter prepare: done on each connection as it opens, for tests to watch what is executed.
    init(
        folder: URL, busyTimeout: Duration = .seconds(10), prepare: @escaping @Sendable (Database) throws -> Void
    ) throws {
        let path = try SQLiteStore.makeFile(in: folder)
        let configuration = Connections.configuration(busyTimeout: busyTimeout, prepare: prepare)
        reserve = Reserve(folder: folder)
        do {
            (pool, installation) = try SQLiteStore.openPool(path, configuration, busyTimeout: busyTimeout)
            reserve.makeIfRoomy()
        } catch StoreError.full(let reason) {
            guard reserve.release() else { throw StoreError.full(reason) }
            (pool, installation) = try SQLiteStore.openPool(path, configuration, busyTimeout: busyTimeout)
        }
        sessions = try namingErrors { try SessionReader(path: path, configuration: configuration) }
    }

    private static func openPool(
        _ path: String, _ configuration: Configuration, busyTimeout: Duration
    ) throws -> (DatabasePool, Installation) {
        try namingErrors {
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
        // SQLite gives its other files, which it makes beside this one, the mode that this one has. A file that is there is never
        // opened here: closing it would end the locks that other connections of this process have on it (SQLite, How To Corrupt).
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
        try await onWriter { [commitWaits] database in
            try commitWaits.ensure(on: database)
            return try SQLiteTransaction.run(on: database, body)
        }
    }

    public func writeDerived<T: Sendable>(
        _ body: @escaping @Sendable (any Transaction) throws -> T
    ) async throws -> T {
        try await onWriter { [commitWaits] database in
            try commitWaits.suspend(on: database) { try SQLiteTransaction.run(on: database, body) }
        }
    }

    /// Ends what all connections are executing.
    func interrupt() { pool.interrupt() }

    /// Not cancelled with its task: others may share the transaction.
    func onWriter<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { done in
            pool.asyncWriteWithoutTransaction { database in
                done.resume(with: Result { try namingErrors { try body(database) } })
            }
        }
    }

    /// On the writer, whose own commits do not count (SQLite, PRAGMA data_version).
    public func otherProcessesHaveCommitted() async throws -> Bool {
        let version = try await onWriter { try Int64.fetchOne($0, sql: "PRAGMA data_version") ?? 0 }
        return dataVersion.exchange(version, ordering: .relaxed) != version
    }

    /// On the caller's own thread: it waits for nobody.
    public func session(of token: TokenHash) throws -> Session? { try sessions.session(of: token) }

    /// Closes all connections. The last process to do so moves the write-ahead log into the database, which then is whole
    /// by itself.
    /// - Throws: ``StoreError`` if a read is still under way.
    public func close() throws {
        try namingErrors {
            try sessions.close()
            try pool.close()
            // The pool closes its writer before its readers, and these cannot: so one more writer comes and goes.
            try DatabaseQueue(path: pool.path, configuration: pool.configuration).close()
        }
        // What the last one out gave back may be all the room there is.
        if access(path + "-shm", F_OK) != 0 { reserve.fill() }
    }

    /// For tests: a pragma's value on the writer, where its settings count.
    func writerPragma(_ name: String) throws -> Int? {
        try namingErrors { try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA \(name)") } }
    }
}
