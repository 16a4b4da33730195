import CSQLite
import Foundation
import GRDB

/// The configuration of connections to the database.
enum Connections {
    /// The maximum number of concurrent readers. Reading a page of a feed occupies a reader for a few milliseconds.
    private static let readerLimit = 8
    /// The size of a reader's page cache, in KiB. A first sync reads each page once, so a larger cache would not help.
    private static let readerCache = 2_048
    /// The size of the writer's page cache, in KiB. Pushes to many scopes, and objects with random IDs, change pages throughout three
    /// indexes. For a scope of a million notes, this cache holds the interior pages of these indexes and the leaf pages that change
    /// often.
    private static let writerCache = 65_536
    /// The size of the write-ahead log, in pages, at which a commit starts a checkpoint. Two pushes of 500 notes reach SQLite's
    /// default of 1,000 pages (4 MB). With 4,000 pages (16 MB), an index page that many commits change is written only once per
    /// checkpoint, and fewer commits wait for one: with 128 connections and a disk that needs 4 ms for an fdatasync, the rate is a
    /// fifth higher. Reading the log after a crash still takes only a few hundredths of a second.
    private static let checkpointPages = 4_000
    /// The size in bytes to which SQLite truncates the write-ahead log if the log has become larger, for example during a long
    /// read. SQLite truncates the log when it begins to overwrite the log from the start.
    private static let logSizeLimit = 64 << 20

    /// Evaluated once, before the first connection is opened.
    private static let memoryStatisticsAreOff = sqlite_disable_memory_statistics() == SQLITE_OK

    static func configuration(
        busyTimeout: Duration, prepare: @escaping @Sendable (Database) throws -> Void
    ) -> Configuration {
        _ = memoryStatisticsAreOff
        var configuration = Configuration()
        configuration.label = "hesper"
        configuration.maximumReaderCount = readerLimit
        configuration.foreignKeysEnabled = true
        // Other processes, such as `hesper account`, may write while the server runs. A write of the server then waits until they
        // release their locks.
        configuration.busyMode = .timeout(busyTimeout / .seconds(1))
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA cache_size = -\(readerCache)")
            try prepare(database)
        }
        return configuration
    }

    /// Opens a database that other processes may open or close at the same time. Retries `open` for up to `limit` while it fails
    /// with SQLITE_BUSY. SQLite itself waits for most locks. But if two readers want to become writers, SQLite fails immediately
    /// for one of them, to avoid a deadlock (SQLite, `sqlite3_busy_handler`). This can happen when the database is switched to a
    /// write-ahead log, and on GRDB's first write.
    static func waitingForOthers<T>(_ limit: Duration, _ open: () throws -> T) throws -> T {
        let end = ContinuousClock.now + limit
        while true {
            do {
                return try open()
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && ContinuousClock.now < end {
                // A random pause, so that several waiting processes do not retry at the same time.
                Thread.sleep(forTimeInterval: .random(in: 0.002...0.02))
            }
        }
    }

    /// Configures the writer's connection after it was opened. GRDB opens it with `synchronous = NORMAL`, but only FULL makes a
    /// commit durable before it returns. With `secure_delete`, SQLite overwrites deleted contents.
    @Sendable static func setUpWriter(_ database: Database) throws {
        try database.execute(
            sql: """
                PRAGMA synchronous = FULL;
                PRAGMA wal_autocheckpoint = \(checkpointPages);
                PRAGMA journal_size_limit = \(logSizeLimit);
                PRAGMA cache_size = -\(writerCache);
                PRAGMA secure_delete = ON;
                """)
    }
}
