import HesperStore

/// A connection to a SQL database, as the statements of this module use it.
///
/// Parameters are `$1`, `$2` and so on, in the order of the arguments. A statement may use a parameter several times. Prepared
/// statements are cached by their text, which must therefore never contain values.
public protocol SQLConnection {
    associatedtype Row: StoredRow
    associatedtype Cursor: SQLCursor where Cursor.Row == Row

    /// The expressions that databases write differently.
    var dialect: SQLDialect { get }
    /// Runs a query and returns the result of `body` for the first row; nil if there are no rows.
    func first<T>(_ sql: String, _ arguments: [SQLValue], _ body: (Row) throws -> T?) throws -> T?
    /// Runs a query and returns the results of `body` for all rows. All rows may be in memory simultaneously.
    func all<T>(_ sql: String, _ arguments: [SQLValue], _ body: (Row) throws -> T) throws -> [T]
    /// Runs a statement and returns the number of rows that it changed.
    func run(_ sql: String, _ arguments: [SQLValue]) throws -> Int
    /// Runs a statement without waiting for its result, if the connection supports that. An error is then thrown by the next call
    /// that waits, at the latest by the commit.
    /// - Parameter rows: the number of rows that it must change, otherwise it fails; nil for any number.
    func enqueue(_ sql: String, _ arguments: [SQLValue], expecting rows: Int?) throws
    /// Opens a cursor, which reads rows on demand. It is closed at the end of the transaction.
    func cursor(_ sql: String, _ arguments: [SQLValue]) throws -> Cursor
}

/// A cursor, which reads the rows of a query one by one.
public protocol SQLCursor {
    associatedtype Row: StoredRow

    /// Returns the result of `body` for the next row; nil at the end.
    func next<T>(_ body: (Row) throws -> T) throws -> T?
    /// Ends the query. This is not necessary after the last row.
    func close()
}

extension SQLConnection {
    /// Runs a statement that may change any number of rows, without waiting for its result.
    public func enqueue(_ sql: String, _ arguments: [SQLValue]) throws { try enqueue(sql, arguments, expecting: nil) }

    /// Calls `body` with each row of a query. Only a few rows are in memory at a time.
    func each(_ sql: String, _ arguments: [SQLValue], _ body: (Row) throws -> Void) throws {
        let cursor = try cursor(sql, arguments)
        while try cursor.next(body) != nil {}
        // After an error, the cursor is closed at the end of the transaction.
        cursor.close()
    }
}

/// The syntax that differs between databases.
public struct SQLDialect: Sendable {
    /// An expression for the number of bytes in the column `body`.
    let bodyBytes: String
    /// The clause that locks the rows of a SELECT and skips those that another transaction has locked. It is empty for a database
    /// with a single writer.
    let skipsLocked: String
    /// The keywords between a table and the name of the index to use; nil if the database has no such hint.
    let indexedBy: String?
    /// The literal for true.
    let yes: String

    public init(bodyBytes: String, skipsLocked: String, indexedBy: String?, yes: String) {
        self.bodyBytes = bodyBytes
        self.skipsLocked = skipsLocked
        self.indexedBy = indexedBy
        self.yes = yes
    }

    /// An index hint for the preceding table, if the database supports it.
    func index(_ name: String) -> String { indexedBy.map { " \($0) \(name)" } ?? "" }

    /// The condition that a boolean column is true, in the form that partial indexes use.
    func isTrue(_ column: String) -> String { "\(column) = \(yes)" }
}
