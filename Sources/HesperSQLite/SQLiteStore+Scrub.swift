import GRDB
import HesperStore

extension SQLiteStore {
    /// The number of pages of the search index that are merged in one transaction.
    private static let mergedPages = 500
    /// The maximum number of transactions that merge the search index. The index of a million notes needs a few hundred
    /// transactions.
    private static let turns = 10_000
    /// The maximum number of attempts to truncate the write-ahead log. An attempt fails if a reader is using the log.
    private static let attempts = 50
    /// The pause between two attempts to truncate the write-ahead log.
    private static let pause = Duration.milliseconds(200)

    /// Removes the contents of deleted rows from the files. The rows themselves were overwritten when they were deleted
    /// (`secure_delete`), but the search index contains their words until its segments are merged, and the write-ahead log
    /// contains old pages until it is truncated.
    public func scrub() async throws { try await scrub(attempts: SQLiteStore.attempts) }

    func scrub(attempts: Int) async throws {
        // A negative number of pages starts a merge of all segments, and a positive number continues it (SQLite FTS5, section 6.9).
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
                // If a reader uses the log, fail immediately, so that other writes do not wait for this reader.
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
