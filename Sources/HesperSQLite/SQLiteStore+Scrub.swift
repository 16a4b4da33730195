import GRDB
import HesperStore

extension SQLiteStore {
    /// The number of pages of the search index that are merged in one write.
    private static let mergedPages = 500
    /// The maximum number of merge steps. An index of a million notes takes some hundreds.
    private static let turns = 10_000
    /// The number of attempts to truncate the log, which fails while it is being read, and the pause between them.
    private static let attempts = 50
    private static let pause = Duration.milliseconds(200)

    /// Removes erased contents from the file. Deleted rows are overwritten immediately (`secure_delete`), but the search index
    /// keeps words until its segments are merged, and the write-ahead log keeps old pages until it is truncated.
    public func scrub() async throws { try await scrub(attempts: SQLiteStore.attempts) }

    func scrub(attempts: Int) async throws {
        // A negative number starts a merge of all segments, a positive one continues it (SQLite FTS5, 6.9).
        for turn in 0..<SQLiteStore.turns {
            let pages = turn == 0 ? -SQLiteStore.mergedPages : SQLiteStore.mergedPages
            let isDone = try await onWriter { database in
                let before = database.totalChangesCount
                try database.execute(
                    sql: "INSERT INTO terms (terms, rank) VALUES ('merge', ?)", arguments: [pages])
                return database.totalChangesCount - before < 2
            }
            if isDone { break }
        }
        for _ in 0..<attempts {
            let isDone = try await onWriter { database in
                // Do not block other writes while waiting for a reader.
                let busyTimeout = try Int.fetchOne(database, sql: "PRAGMA busy_timeout") ?? 0
                try database.execute(sql: "PRAGMA busy_timeout = 0")
                defer { try? database.execute(sql: "PRAGMA busy_timeout = \(busyTimeout)") }
                let isBusy = try Int.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)") ?? 1
                return isBusy == 0
            }
            if isDone { return }
            try await Task.sleep(for: SQLiteStore.pause)
        }
        throw StoreError.unavailable("the write-ahead log is in use by readers")
    }
}
