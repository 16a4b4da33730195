import Foundation
import GRDB

/// The configuration of connections to the database.
enum Connections {
    /// The maximum number of concurrent readers. A page of a feed occupies one for a few milliseconds.
    private static let readerLimit = 8
    /// The page cache of a reader, in KiB. A first sync reads each page once, so a larger cache would not help.
    private static let readerCache = 2_048
    /// The page cache of the writer, in KiB. Random IDs touch pages all over three indexes; this holds the upper levels and the
    /// busy leaves for a scope of a million notes.
    private static let writerCache = 65_536
    /// The size of the write-ahead log, in pages, at which a commit starts a checkpoint. SQLite's default of 1,000 (4 MB) is
    /// reached by every second push of 500 notes. With 4,000 (16 MB) an index page is written once for many commits, and
    /// recovery after a crash still reads the log in a few hundredths of a second.
    private static let checkpointPages = 4_000
    /// The size in bytes to which the log is truncated when it restarts. It may grow far beyond this during a long read.
    private static let logSizeLimit = 64 << 20

    static func configuration(
        busyTimeout: Duration, prepare: @escaping @Sendable (Database) throws -> Void
    ) -> Configuration {
        var configuration = Configuration()
        configuration.label = "hesper"
        configuration.maximumReaderCount = readerLimit
        configuration.foreignKeysEnabled = true
        // Commands in other processes write while the server runs.
        configuration.busyMode = .timeout(busyTimeout / .seconds(1))
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA cache_size = -\(readerCache)")
            try prepare(database)
        }
        return configuration
    }

    /// Opens a database while other processes open or close it. SQLite waits for most locks itself, up to `limit`. It fails
    /// immediately where waiting could deadlock because two readers want to write: on the change to a write-ahead log (SQLite,
    /// `sqlite3_busy_handler`) and on GRDB's first write. Then opening is retried.
    static func waitingForOthers<T>(_ limit: Duration, _ open: () throws -> T) throws -> T {
        let end = ContinuousClock.now + limit
        while true {
            do {
                return try open()
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && ContinuousClock.now < end {
                // Random, so as not to retry in step with the others.
                Thread.sleep(forTimeInterval: .random(in: 0.002...0.02))
            }
        }
    }

    /// Configures the writer after it was opened. GRDB sets `synchronous = NORMAL` while it opens; only FULL makes commits
    /// durable before they return. Deleted contents are overwritten.
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
