import GRDB
import GRDBSQLite

/// Ends what runs past a moment: SQLite asks every so many steps of its machine, those inside of FTS5 included, whether to go on
/// (SQLite, sqlite3_progress_handler).
final class Deadline {
    private let end: ContinuousClock.Instant
    private let connection: SQLiteConnection?
    /// Whether anything was ended.
    private(set) var hasPassed = false

    /// Between two looks at the clock: some tens of microseconds.
    private static let steps: Int32 = 1_000

    init(_ end: ContinuousClock.Instant, on database: Database) {
        self.end = end
        connection = database.sqliteConnection
    }

    /// Does `body`, of which a statement fails if the moment passes.
    func watch<T>(_ body: () throws -> T) rethrows -> T {
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_progress_handler(
            connection, Deadline.steps,
            { context in
                guard let context else { return 0 }
                return Unmanaged<Deadline>.fromOpaque(context).takeUnretainedValue().look()
            }, context)
        defer { sqlite3_progress_handler(connection, 0, nil, nil) }
        return try body()
    }

    /// - Returns: anything but 0 ends the statement.
    private func look() -> Int32 {
        if ContinuousClock.now >= end { hasPassed = true }
        return hasPassed ? 1 : 0
    }
}
