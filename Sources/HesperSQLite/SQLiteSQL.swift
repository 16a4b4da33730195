import GRDB
import GRDBSQLite
import HesperSQL
import HesperStore

/// Runs the statements that all SQL databases share.
struct SQLiteSQL: SQLConnection {
    let snapshot: SQLiteSnapshot

    private static let dialect = SQLDialect(
        bodyBytes: "length(CAST(body AS BLOB))", skipsLocked: "", indexedBy: "INDEXED BY", yes: "1")

    var dialect: SQLDialect { SQLiteSQL.dialect }

    private func prepare(_ sql: String, _ arguments: [SQLValue]) throws -> Prepared {
        let statement = try snapshot.prepare(sql)
        try statement.bind(arguments)
        return statement
    }

    func first<T>(_ sql: String, _ arguments: [SQLValue], _ body: (Prepared) throws -> T?) throws -> T? {
        let row = try prepare(sql, arguments)
        return try row.first { try body(row) }
    }

    func all<T>(_ sql: String, _ arguments: [SQLValue], _ body: (Prepared) throws -> T) throws -> [T] {
        let row = try prepare(sql, arguments)
        return try row.all { try body(row) }
    }

    func run(_ sql: String, _ arguments: [SQLValue]) throws -> Int { try prepare(sql, arguments).run() }

    /// At once: nothing is gained by waiting.
    func enqueue(_ sql: String, _ arguments: [SQLValue], expecting rows: Int?) throws {
        let changed = try run(sql, arguments)
        guard changed == rows ?? changed else {
            throw StoreError.failed("\(changed) rows instead of \(rows ?? 0) in: \(sql)")
        }
    }

    func cursor(_ sql: String, _ arguments: [SQLValue]) throws -> SQLiteCursor {
        try SQLiteCursor(prepare(sql, arguments))
    }
}

/// The rows of a statement as it is stepped.
final class SQLiteCursor: SQLCursor {
    private let row: Prepared
    /// Whether the statement stands on a row: nobody else is given it then, and the snapshot cannot end.
    private var isOnRow: Bool
    /// Whether that row was asked for.
    private var isGiven = false

    /// At once on the first row, so that the statement is its own.
    fileprivate init(_ row: Prepared) throws {
        self.row = row
        isOnRow = try row.step()
    }

    deinit { close() }

    func next<T>(_ body: (Prepared) throws -> T) throws -> T? {
        // After its last row a statement would begin again; then, and after an error, it is reset.
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

extension Prepared {
    /// Binds the arguments of `$1`, `$2` and so on.
    fileprivate func bind(_ arguments: [SQLValue]) throws {
        for index in 0..<parameterCount {
            guard let number = parameterNumber(index + 1), arguments.indices.contains(number - 1) else {
                throw StoreError.failed("a parameter without an argument")
            }
            bind(index + 1, arguments[number - 1])
        }
    }

    private func bind(_ index: Int32, _ value: SQLValue) {
        switch value {
        case .null: bindNull(index)
        case .integer(let value): bind(index, value)
        case .bool(let value): bind(index, value)
        case .text(let value): bind(index, value)
        case .json(let value): bind(index, text: value)
        case .bytes(let value): bind(index, blob: value)
        case .date(let value): bind(index, value)
        case .id(let value): bind(index, value)
        case .node(let value): bind(index, value)
        case .clock(let value): bind(index, value)
        case .digest(let value): bind(index, value)
        }
    }
}
