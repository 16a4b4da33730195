import Foundation
import GRDB

/// How connections to the database are set up.
enum Connections {
    /// Readers at once: a page of a feed occupies one for a few milliseconds.
    private static let readerLimit = 8
    /// Pages that one reader keeps, in KiB: what a first sync streams is read once, so more would only take memory.
    private static let readerCache = 2_048
    /// Pages that the writer keeps, in KiB. Random IDs touch pages all over three indexes; of a scope of a million notes
    /// the upper levels and the busy leaves fit.
    private static let writerCache = 65_536
    /// Pages of write-ahead log after which the committing writer moves them into the database. SQLite's own 1,000 (4 MB)
    /// comes after every second push of 500 notes; with 4,000 (16 MB) a page of an index is moved once for many commits,
    /// and a start after a crash still reads the log in a few hundredths of a second.
    private static let checkpointPages = 4_000
    /// What the log is cut to when it is begun anew, in bytes: after a long read it may have grown far beyond.
    private static let logSizeLimit = 64 << 20

    static func configuration(
        busyTimeout: Duration, prepare: @escaping @Sendable (Database) throws -> Void
    ) -> Configuration {
        var configuration = Configuration()
        configuration.label = "hesper"
        configuration.maximumReaderCount = readerLimit
        configuration.foreignKeysEnabled = true
        // Commands of other processes write beside the server.
        configuration.busyMode = .timeout(busyTimeout / .seconds(1))
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA cache_size = -\(readerCache)")
            try prepare(database)
        }
        return configuration
    }

    /// Opens a database beside other processes that open or close it. Most locks SQLite waits for by itself, for `limit` and no
    /// longer; where waiting could not end, because two that read want to write, one is told at once that the other is
    /// busy: the change to a write-ahead log (SQLite, `sqlite3_busy_handler`) and GRDB's first write. Then it begins anew.
    static func waitingForOthers<T>(_ limit: Duration, _ open: () throws -> T) throws -> T {
        let end = ContinuousClock.now + limit
        while true {
            do {
                return try open()
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && ContinuousClock.now < end {
                // Not in step with the others.
                Thread.sleep(forTimeInterval: .random(in: 0.002...0.02))
            }
        }
    }

    /// GRDB sets the writer to `synchronous = NORMAL` while it opens; only FULL makes a commit durable before it returns. What is
    /// deleted is overwritten.
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
