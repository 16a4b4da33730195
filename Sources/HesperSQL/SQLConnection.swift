import HesperStore

/// What the statements of this module need of a connection to a database.
///
/// Parameters are `$1`, `$2` and so on, by the order of the arguments; one may stand in a statement several times. A
/// statement is prepared once, by its text, so that no value is ever part of it.
public protocol SQLConnection {
    associatedtype Row: StoredRow
    associatedtype Cursor: SQLCursor where Cursor.Row == Row

    /// The expressions that databases write differently.
    var dialect: SQLDialect { get }
    /// Runs a query and returns what `body` makes of the first row; nil if there is no row.
    func first<T>(_ sql: String, _ arguments: [SQLValue], _ body: (Row) throws -> T?) throws -> T?
    /// Runs a query and returns what `body` makes of each row. All rows may be in memory at once.
    func all<T>(_ sql: String, _ arguments: [SQLValue], _ body: (Row) throws -> T) throws -> [T]
    /// Runs a statement and returns how many rows it changed.
    func run(_ sql: String, _ arguments: [SQLValue]) throws -> Int
    /// Runs a statement without waiting for its answer, if the connection can. An error is then thrown by the next call that
    /// waits, at the latest by the commit.
    /// - Parameter rows: how many rows it must change; another number is an error. Nil: any number.
    func enqueue(_ sql: String, _ arguments: [SQLValue], expecting rows: Int?) throws
    /// Opens a cursor, which reads rows as they are asked for; it ends with the transaction.
    func cursor(_ sql: String, _ arguments: [SQLValue]) throws -> Cursor
}

/// The rows of a query, read one after the other.
public protocol SQLCursor {
    associatedtype Row: StoredRow

    /// Returns what `body` makes of the next row; nil after the last.
    func next<T>(_ body: (Row) throws -> T) throws -> T?
    /// Ends the query; not needed after the last row.
    func close()
}

extension SQLConnection {
    /// Runs a statement that may change any number of rows, without waiting for its answer.
    public func enqueue(_ sql: String, _ arguments: [SQLValue]) throws { try enqueue(sql, arguments, expecting: nil) }

    /// Gives each row of a query to `body`, with few rows in memory at once.
    func each(_ sql: String, _ arguments: [SQLValue], _ body: (Row) throws -> Void) throws {
        let cursor = try cursor(sql, arguments)
        while try cursor.next(body) != nil {}
        // After an error the cursor ends with the transaction.
        cursor.close()
    }
}

/// The expressions that databases write differently.
public struct SQLDialect: Sendable {
    /// The number of bytes of the column `body`.
    let bodyBytes: String
    /// What ends a SELECT that locks its rows and leaves out those that another transaction has locked; nothing in a
    /// database with one writer.
    let skipsLocked: String
    /// What follows the name of a table and goes before that of the index by which it is to be read, if the database is told.
    let indexedBy: String?
    /// A boolean that is true.
    let yes: String

    public init(bodyBytes: String, skipsLocked: String, indexedBy: String?, yes: String) {
        self.bodyBytes = bodyBytes
        self.skipsLocked = skipsLocked
        self.indexedBy = indexedBy
        self.yes = yes
    }

    /// Names the index by which the table before it is to be read, if the database is told.
    func index(_ name: String) -> String { indexedBy.map { " \($0) \(name)" } ?? "" }

    /// Whether a boolean column is true, as the condition of an index has it.
    func isTrue(_ column: String) -> String { "\(column) = \(yes)" }
}
