import HesperStore

/// The interface through which the statements of this module use a connection to an SQL database.
///
/// Parameters are `$1`, `$2` and so on, in the order of the arguments. A statement may use a parameter several times. Prepared
/// statements are cached by their text. Therefore the text must never contain values.
public protocol SQLConnection {
    associatedtype Row: StoredRow
    associatedtype Cursor: SQLCursor where Cursor.Row == Row

    /// The expressions that differ between databases.
    var dialect: SQLDialect { get }
    /// Runs a query and returns the result of `body` for the first row; nil if the query returns no rows.
    func first<T>(_ sql: String, _ arguments: [SQLValue], _ body: (Row) throws -> T?) throws -> T?
    /// Runs a query and returns the results of `body` for all rows. A connection may hold all rows in memory at the same time.
    func all<T>(_ sql: String, _ arguments: [SQLValue], _ body: (Row) throws -> T) throws -> [T]
    /// Runs a statement and returns the number of rows that the statement changed.
    func run(_ sql: String, _ arguments: [SQLValue]) throws -> Int
    /// Runs a statement without waiting for its result, if the connection supports that. If the statement fails, the next call that
    /// waits for a result throws the error. The commit is such a call.
    /// - Parameter rows: the number of rows that the statement must change. If the statement changes a different number of rows, it
    ///   fails. Nil allows any number.
    func enqueue(_ sql: String, _ arguments: [SQLValue], expecting rows: Int?) throws
    /// Opens a cursor, which reads the rows of a query on demand. The cursor is closed at the end of the transaction.
    func cursor(_ sql: String, _ arguments: [SQLValue]) throws -> Cursor
}

/// Reads the rows of a query one by one.
public protocol SQLCursor {
    associatedtype Row: StoredRow

    /// Returns the result of `body` for the next row; nil if there are no more rows.
    func next<T>(_ body: (Row) throws -> T) throws -> T?
    /// Ends the query. This is not necessary after the last row has been read.
    func close()
}

extension SQLConnection {
    /// Runs a statement that may change any number of rows, without waiting for its result.
    public func enqueue(_ sql: String, _ arguments: [SQLValue]) throws { try enqueue(sql, arguments, expecting: nil) }

    /// Calls `body` with each row of a query. Only a few rows are in memory at the same time.
    func each(_ sql: String, _ arguments: [SQLValue], _ body: (Row) throws -> Void) throws {
        let cursor = try cursor(sql, arguments)
        while try cursor.next(body) != nil {}
        // If reading a row throws an error, this line is not reached, and the cursor is closed at the end of the transaction.
        cursor.close()
    }
}

/// The parts of SQL statements that differ between databases.
public struct SQLDialect: Sendable {
    /// An expression for the number of bytes in the column `body`.
    let bodyBytes: String
    /// The clause that locks the rows of a SELECT, and skips rows that another transaction has locked. It is empty for a database
    /// that allows only one writer.
    let skipsLocked: String
    /// The keywords before the name of an index in an index hint, such as `INDEXED BY`; nil if the database has no such hint.
    let indexedBy: String?
    /// The literal for the boolean value true.
    let yes: String

    public init(bodyBytes: String, skipsLocked: String, indexedBy: String?, yes: String) {
        self.bodyBytes = bodyBytes
        self.skipsLocked = skipsLocked
        self.indexedBy = indexedBy
        self.yes = yes
    }

    /// Returns an index hint, which must follow the name of a table; an empty text if the database has no such hint.
    func index(_ name: String) -> String { indexedBy.map { " \($0) \(name)" } ?? "" }

    /// Returns the condition that a boolean column is true, in the form that partial indexes use.
    func isTrue(_ column: String) -> String { "\(column) = \(yes)" }
}
