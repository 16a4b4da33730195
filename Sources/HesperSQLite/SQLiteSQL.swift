import GRDB
import GRDBSQLite
import HesperSQL
import HesperStore

/// Runs the statements that SQLite and PostgreSQL share.
struct SQLiteSQL: SQLConnection {
    let snapshot: SQLiteSnapshot

    private static let dialect = SQLDialect(
        bodyBytes: "length(CAST(body AS BLOB))", skipsLocked: "", indexedBy: "INDEXED BY", yes: "1")

    var dialect: SQLDialect { SQLiteSQL.dialect }

    private func prepare(_ sql: String, _ arguments: [SQLValue]) throws -> PreparedStatement {
        let statement = try snapshot.prepare(sql)
        try statement.bind(arguments)
        return statement
    }

    func first<T>(_ sql: String, _ arguments: [SQLValue], _ body: (PreparedStatement) throws -> T?) throws -> T? {
        let row = try prepare(sql, arguments)
        return try row.first { try body(row) }
    }

    func all<T>(_ sql: String, _ arguments: [SQLValue], _ body: (PreparedStatement) throws -> T) throws -> [T] {
        let row = try prepare(sql, arguments)
        return try row.all { try body(row) }
    }

    func run(_ sql: String, _ arguments: [SQLValue]) throws -> Int { try prepare(sql, arguments).run() }

    /// Runs the statement immediately. Other databases run it later, to save round trips to the server. SQLite has no round
    /// trips.
    func enqueue(_ sql: String, _ arguments: [SQLValue], expecting rows: Int?) throws {
        let changed = try run(sql, arguments)
        guard changed == rows ?? changed else {
            throw StoreError.failed("changed \(changed) rows instead of \(rows ?? 0) in: \(sql)")
        }
    }

    func cursor(_ sql: String, _ arguments: [SQLValue]) throws -> SQLiteCursor {
        try SQLiteCursor(prepare(sql, arguments))
    }
}

/// Reads the rows of a statement one by one.
final class SQLiteCursor: SQLCursor {
    private let row: PreparedStatement
    /// Whether the statement is positioned at a row. While this is true, no other code uses the cached statement, and the snapshot
    /// cannot end.
    private var isOnRow: Bool
    /// Whether ``next(_:)`` has already returned the row at which the statement is positioned.
    private var isGiven = false

    /// Advances to the first row immediately, so that no other cursor gets the same cached statement.
    fileprivate init(_ row: PreparedStatement) throws {
        self.row = row
        isOnRow = try row.step()
    }

    deinit { close() }

    func next<T>(_ body: (PreparedStatement) throws -> T) throws -> T? {
        // If the statement were advanced after the last row or after an error, SQLite would run the query again.
        guard isOnRow else { return nil }
        if isGiven {
            isOnRow = false
            guard try row.step() else { return nil }
            isOnRow = true
        }
        isGiven = true
        return try body(row)
    }

    func close() {
        if isOnRow { row.reset() }
        isOnRow = false
    }
}

extension PreparedStatement {
    /// Binds the arguments to `$1`, `$2` and so on.
    fileprivate func bind(_ arguments: [SQLValue]) throws {
        for index in 0..<parameterCount {
            guard let number = parameterNumber(index + 1), arguments.indices.contains(number - 1) else {
                throw StoreError.failed("statement parameter without an argument")
            }
            bind(arguments[number - 1], at: index + 1)
        }
    }
}

extension SQLValue: SQLiteBindable {
    func bindArgument(to statement: SQLiteStatement, at index: Int32) {
        switch self {
        case .null: sqlite3_bind_null(statement, index)
        case .integer(let value): value.bindArgument(to: statement, at: index)
        case .bool(let value): value.bindArgument(to: statement, at: index)
        case .text(let value): value.bindArgument(to: statement, at: index)
        case .json(let value): SQLiteText(value).bindArgument(to: statement, at: index)
        case .bytes(let value): value.bindArgument(to: statement, at: index)
        case .date(let value): value.bindArgument(to: statement, at: index)
        case .id(let value): value.bindArgument(to: statement, at: index)
        case .node(let value): value.bindArgument(to: statement, at: index)
        case .clock(let value): value.bindArgument(to: statement, at: index)
        case .digest(let value): value.bindArgument(to: statement, at: index)
        }
    }
}
