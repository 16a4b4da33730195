import Foundation
import GRDB
import HesperModel
import HesperStore

/// The database in a folder, as the source of a move to another database. While it is open, no other process can open it, because
/// this process holds SQLite's exclusive lock on the file.
public final class SQLiteRows: RowSource {
    private let database: Database
    /// The size of the page cache in KiB. It holds the interior pages of the indexes.
    private static let cache = 65_536

    private init(_ database: Database) { self.database = database }

    /// Opens the database in a folder, migrates it to this version, runs `body`, and closes it.
    /// - Throws: ``MoveRefusal/inUse`` if another process has the database open; ``StoreError``.
    public static func whileOpen<T>(folder: URL, _ body: (SQLiteRows) throws -> T) throws -> T {
        var configuration = Configuration()
        configuration.label = "hesper"
        configuration.foreignKeysEnabled = true
        configuration.prepareDatabase { database in
            // The exclusive locking mode is set before anything is read, so that the first read acquires the lock and keeps it.
            try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -\(cache)")
        }
        let path = folder.appending(path: SQLiteStore.fileName).path
        let queue: DatabaseQueue
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            throw MoveRefusal.inUse
        } catch let error as DatabaseError {
            throw StoreError(error)
        }
        return try mappingErrors {
            try queue.inDatabase { database in
                try Migrations.run(on: database)
                return try body(SQLiteRows(database))
            }
        }
    }

    public func installation() throws -> Installation? {
        do { return try SQLiteSnapshot(database).installation() } catch StoreError.unfinished { return nil }
    }

    public func rowCounts() throws -> [ScopeID: Int] {
        var counts: [ScopeID: Int] = [:]
        for table in MovedTable.ofScopes {
            let row = try PreparedStatement(
                "SELECT \(table.scope), count(*) FROM \(table.name) GROUP BY \(table.scope)", on: database)
            try row.eachRow { counts[ScopeID(row.integer(0)), default: 0] += row.int(1) }
        }
        return counts
    }

    public func lastScope() throws -> Int64 {
        let row = try PreparedStatement("SELECT seq FROM sqlite_sequence WHERE name = 'scopes'", on: database)
        return try row.first { row.integer(0) } ?? 0
    }

    public func read(_ table: MovedTable, of scopes: [ScopeID]?, _ body: ([MovedValue]) throws -> Void) throws {
        let row = try PreparedStatement(SQLiteRows.statement(table, ofScope: scopes != nil), on: database)
        guard let scopes else { return try row.eachRow { try body(row.moved(table)) } }
        for scope in scopes {
            row.bind(scope)
            try row.eachRow { try body(row.moved(table)) }
        }
    }

    private static func statement(_ table: MovedTable, ofScope: Bool) -> String {
        var sql = "SELECT \(table.list) FROM \(table.name)"
        if ofScope { sql += " WHERE \(table.scope) = ?" }
        if let order = table.order { sql += " ORDER BY \(order)" }
        return sql
    }
}

extension PreparedStatement {
    /// The values of the statement's current row. The statement must select the table's columns in order.
    fileprivate func moved(_ table: MovedTable) -> [MovedValue] {
        table.columns.enumerated().map { index, column in
            let index = Int32(index)
            guard !isNull(index) else { return .null }
            switch column.kind {
            case .integer, .small, .bool, .date: return .integer(integer(index))
            case .text, .bytes: return .bytes(bytes(index))
            }
        }
    }
}
