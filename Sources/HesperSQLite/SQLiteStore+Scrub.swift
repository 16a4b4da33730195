import GRDB
import HesperStore

extension SQLiteStore {
    /// Pages of the index of terms that are merged in one turn of the writer.
    private static let mergedPages = 500
    /// Turns at most: an index of a million notes needs some hundreds.
    private static let turns = 10_000
    /// How often the log is tried to be begun anew, and the pause between: while somebody reads it, it cannot be.
    private static let attempts = 50
    private static let pause = Duration.milliseconds(200)

    /// Rows are overwritten as they go (`secure_delete`). But the index of terms keeps words until its parts are merged, and the
    /// write-ahead log keeps all that was written until it is begun anew.
    public func scrub() async throws { try await scrub(attempts: SQLiteStore.attempts) }

    func scrub(attempts: Int) async throws {
        // A negative number begins the merge of all parts, a positive one goes on with it (SQLite FTS5, 6.9).
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
                // Nobody waits for a reader meanwhile.
                let patience = try Int.fetchOne(database, sql: "PRAGMA busy_timeout") ?? 0
                try database.execute(sql: "PRAGMA busy_timeout = 0")
                defer { try? database.execute(sql: "PRAGMA busy_timeout = \(patience)") }
                let isBusy = try Int.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)") ?? 1
                return isBusy == 0
            }
            if isDone { return }
            try await Task.sleep(for: SQLiteStore.pause)
        }
        throw StoreError.unavailable("the write-ahead log is being read")
    }
}
