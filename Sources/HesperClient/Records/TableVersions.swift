internal import GRDB

/// Counts the changes of each table in the database file, so that a process can detect the changes of other processes. SQLite
/// reports that another process wrote to the file. It does not report which tables were changed.
final class TableVersions: Sendable {
    private struct State {
        /// The count of changes of each table, as far as this process knows it.
        var numbers: [String: Int64] = [:]
        /// SQLite's `data_version`: it changes when another process commits.
        var dataVersion: Int64?
    }

    private let state = Locked(State())

    /// Reads the stored count of changes of each table. Called once, after the database file is opened.
    func begin(_ database: Database) throws {
        let numbers = try TableVersions.numbers(database)
        state.withLock { $0.numbers = numbers }
    }

    /// Increments the counts of the tables that a transaction changed. Called within this transaction.
    func raise(_ tables: Set<String>, _ database: Database) throws {
        guard !tables.isEmpty else { return }
        for table in tables {
            try database.cachedStatement(
                sql: """
                    INSERT INTO tableVersions VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET number = number + 1
                    """
            ).execute(arguments: [table])
        }
        // This process's own changes are counted in `state` too, so that they are not reported as changes of another process.
        database.afterNextTransaction { [self] _ in
            state.withLock { state in for table in tables { state.numbers[table, default: 0] += 1 } }
        }
    }

    /// The tables that other processes changed since the last call.
    func changesOfOthers(_ database: Database) throws -> [String] {
        let dataVersion = try Int64.fetchOne(database, sql: "PRAGMA data_version")
        guard state.withLock({ $0.dataVersion != dataVersion }) else { return [] }
        let numbers = try TableVersions.numbers(database)
        return state.withLock { state in
            let changed = numbers.keys.filter { numbers[$0] != state.numbers[$0] }
            state.numbers = numbers
            state.dataVersion = dataVersion
            return changed.sorted()
        }
    }

    private static func numbers(_ database: Database) throws -> [String: Int64] {
        let rows = try Row.fetchAll(database, sql: "SELECT name, number FROM tableVersions")
        return Dictionary(rows.map { ($0[0], $0[1]) }) { first, _ in first }
    }
}

extension LocalDatabase {
    /// Finds the tables that other processes changed in the database file, and notifies the observers of these tables in this
    /// process.
    /// - Returns: the changed tables.
    @discardableResult
    package func noticeOtherProcesses() async throws -> [String] {
        // The versions are compared outside of a transaction. A transaction would lock the database file for other processes at
        // each call.
        try await writer.writeWithoutTransaction { [tableVersions] database in
            let tables = try tableVersions.changesOfOthers(database)
            if !tables.isEmpty {
                try database.inTransaction(.immediate) {
                    for table in tables { try database.notifyChanges(in: Table(table)) }
                    return .commit
                }
            }
            return tables
        }
    }
}
