import GRDB
import GRDBSQLite
import HesperModel
import HesperSQL
import HesperStore

/// A write transaction. SQLite runs one at a time. Its methods are in extensions, one file for each subject.
final class SQLiteTransaction: SQLiteSnapshot, SQLTransaction {
    /// Runs `body` in a transaction that acquires the write lock at its start. If the lock were acquired only at the first write,
    /// another process could commit between the first read and this write. The write would then fail.
    static func run<T>(on database: Database, _ body: (any Transaction) throws -> T) throws -> T {
        try mappingErrors {
            try database.beginTransaction(.immediate)
            do {
                let transaction = SQLiteTransaction(database)
                let result = try body(transaction)
                try transaction.checkIsOpen()
                try database.commit()
                return result
            } catch {
                try? database.rollback()
                throw error
            }
        }
    }

    /// Throws an error if SQLite has rolled back the transaction, as it does if the disk is full or fails. Without this check,
    /// each of the following statements would be committed separately.
    private func checkIsOpen() throws {
        guard sqlite3_get_autocommit(database.sqliteConnection) == 0 else {
            throw StoreError.unavailable("SQLite has rolled the transaction back")
        }
    }

    override func prepare(_ sql: String) throws -> PreparedStatement {
        try checkIsOpen()
        return try super.prepare(sql)
    }

    func savepoint<T>(_ body: () throws -> T) throws -> T {
        try prepare("SAVEPOINT push").run()
        do {
            let result = try body()
            try prepare("RELEASE push").run()
            return result
        } catch {
            if sqlite3_get_autocommit(database.sqliteConnection) == 0 {
                try prepare("ROLLBACK TO push").run()
                try prepare("RELEASE push").run()
            }
            throw error
        }
    }

    /// Reads the scope's row. It needs no lock, because the transaction already has the write lock of the whole database.
    func lock(_ scope: ScopeID) throws -> LockedScope? {
        let row = try prepare(PushStatements.lock)
        row.bind(scope)
        return try row.first {
            LockedScope(
                head: ScopeHead(scope: scope, sequence: row.integer(0), digest: try row.digest(1)),
                greatestClock: row.clockIfAny(2), serverClock: row.clockIfAny(3),
                hasRevocations: row.integer(4) != 0, restoredSequence: row.integerIfAny(5),
                storage: row.storage(from: 6))
        }
    }

    func bag(of scope: ScopeID) -> any Bag { SQLiteBag(snapshot: self, scope: scope) }
}
