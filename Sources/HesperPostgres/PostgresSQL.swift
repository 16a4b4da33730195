import HesperSQL

/// Runs the statements that SQLite and PostgreSQL share.
struct PostgresSQL: SQLConnection {
    let connection: Connection

    private static let dialect = SQLDialect(
        bodyBytes: "octet_length(body::text)", skipsLocked: "FOR UPDATE SKIP LOCKED", indexedBy: nil, yes: "true")

    var dialect: SQLDialect { PostgresSQL.dialect }

    func first<T>(_ sql: String, _ arguments: [SQLValue], _ body: (Row) throws -> T?) throws -> T? {
        try connection.first(sql, arguments.map(\.postgres), body)
    }

    func all<T>(_ sql: String, _ arguments: [SQLValue], _ body: (Row) throws -> T) throws -> [T] {
        try connection.all(sql, arguments.map(\.postgres), body)
    }

    func run(_ sql: String, _ arguments: [SQLValue]) throws -> Int {
        try connection.run(sql, arguments.map(\.postgres))
    }

    func enqueue(_ sql: String, _ arguments: [SQLValue], expecting rows: Int?) {
        connection.enqueue(sql, arguments.map(\.postgres), expecting: rows)
    }

    func cursor(_ sql: String, _ arguments: [SQLValue]) throws -> Cursor {
        try connection.cursor(sql, arguments.map(\.postgres))
    }
}

extension Cursor: SQLCursor {}

extension SQLValue {
    /// The value as an argument of a PostgreSQL statement. It has the PostgreSQL type in which the tables store this kind of value.
    fileprivate var postgres: PostgresValue {
        switch self {
        case .null: .null
        case .integer(let value): .int8(value)
        case .bool(let value): .bool(value)
        case .text(let value): .text(value)
        case .json(let value): .json(value)
        case .bytes(let value): .bytes(value)
        case .date(let value): .date(value)
        case .id(let value): .id(value)
        case .node(let value): .node(value)
        case .clock(let value): .clock(value)
        case .digest(let value): .digest(value)
        }
    }
}
