import GRDB
import GRDBSQLite
import HesperModel
import HesperSQL
import HesperStore

/// The one transaction that writes at a time. What it does is in one file per noun.
final class SQLiteTransaction: SQLiteSnapshot, SQLTransaction {
    /// Does `body` in a transaction that holds the write lock from its beginning: one that began by reading could not
    /// become a writer after another process's commit.
    static func run<T>(on database: Database, _ body: (any Transaction) throws -> T) throws -> T {
        try namingErrors {
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

    /// SQLite itself rolls a transaction back when the disk is full or fails. Whatever came after would be committed one by
    /// one, so it is refused.
    private func checkIsOpen() throws {
        guard sqlite3_get_autocommit(database.sqliteConnection) == 0 else {
            throw StoreError.unavailable("SQLite has rolled the transaction back")
        }
    }

    override func prepare(_ sql: String) throws -> Prepared {
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

    /// All that write hold the database's write lock, and with it every scope's.
    func lock(_ scope: ScopeID) throws -> LockedScope? {
        let row = try prepare(PushStatements.lock)
        row.bind(1, scope)
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
