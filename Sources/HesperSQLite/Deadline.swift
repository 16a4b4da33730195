import GRDB
import GRDBSQLite

/// Interrupts statements that run past a deadline. SQLite calls a progress handler after a fixed number of steps of its
/// virtual machine, also while FTS5 runs (SQLite, sqlite3_progress_handler).
final class Deadline {
    private let end: ContinuousClock.Instant
    private let connection: SQLiteConnection?
    /// Whether a statement was interrupted.
    private(set) var hasPassed = false

    /// The number of virtual machine steps between two checks of the time. This many steps take tens of microseconds.
    private static let steps: Int32 = 1_000

    init(_ end: ContinuousClock.Instant, on database: Database) {
        self.end = end
        connection = database.sqliteConnection
    }

    /// Runs `body`, whose statements fail once the deadline has passed.
    func watch<T>(_ body: () throws -> T) rethrows -> T {
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_progress_handler(
            connection, Deadline.steps,
            { context in
                guard let context else { return 0 }
                return Unmanaged<Deadline>.fromOpaque(context).takeUnretainedValue().check()
            }, context)
        defer { sqlite3_progress_handler(connection, 0, nil, nil) }
        return try body()
    }

    /// Checks the deadline.
    /// - Returns: 0 to continue the statement, or 1 to interrupt it.
    private func check() -> Int32 {
        if ContinuousClock.now >= end { hasPassed = true }
        return hasPassed ? 1 : 0
    }
}
