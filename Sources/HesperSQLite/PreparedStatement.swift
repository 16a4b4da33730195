import GRDB
import GRDBSQLite
import HesperModel
import HesperStore

/// A prepared statement with direct access to SQLite's values.
///
/// GRDB's rows copy every column, whereas this type reads SQLite's own buffers. IDs, clocks, nodes and digests are BLOBs of 16
/// or 8 bytes, most significant byte first, so that SQLite orders them as the model does.
struct PreparedStatement {
    /// Owns the SQLite statement that ``handle`` refers to.
    private let statement: Statement
    private let handle: SQLiteStatement

    init(_ sql: String, on database: Database) throws {
        let cached = try database.cachedStatement(sql: sql)
        // The cached statement may be in use, for example if two scans are merged, or if the code that processes a row of the
        // statement runs the same statement.
        let isBusy = sqlite3_stmt_busy(cached.sqliteStatement) != 0
        statement = isBusy ? try database.makeStatement(sql: sql) : cached
        handle = statement.sqliteStatement
    }

    /// Advances to the next row. If there is none, resets the statement.
    /// - Returns: whether there is a next row.
    func step() throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            sqlite3_reset(handle)
            return false
        default:
            let error = StoreError(lastOf: sqlite3_db_handle(handle))
            sqlite3_reset(handle)
            throw error
        }
    }

    /// Runs a statement that returns no rows.
    /// - Returns: the number of changed rows.
    @discardableResult
    func run() throws -> Int {
        while try step() {}
        return Int(sqlite3_changes(sqlite3_db_handle(handle)))
    }

    /// Runs an `INSERT` of one row.
    ///
    /// `RETURNING` would be slow in a transaction that changes an FTS5 table. SQLite runs such a statement in a savepoint, and FTS5
    /// writes all pending terms before each savepoint.
    /// - Returns: the row ID of the new row.
    func insertRow() throws -> Int64 {
        try run()
        return sqlite3_last_insert_rowid(sqlite3_db_handle(handle))
    }

    /// Resets the statement. The snapshot that the statement reads cannot end before the statement is reset.
    func reset() { sqlite3_reset(handle) }

    /// Calls `body` for each row. Resets the statement at the end, also after an error.
    func eachRow(_ body: () throws -> Void) throws {
        defer { reset() }
        while try step() { try body() }
    }

    /// Calls `body` for the first row and returns its result; nil if there is no row.
    func first<T>(_ body: () throws -> T?) throws -> T? {
        defer { reset() }
        return try step() ? try body() : nil
    }

    /// Calls `body` for each row and returns the results in order.
    func all<T>(_ body: () throws -> T) throws -> [T] {
        var rows: [T] = []
        try eachRow { rows.append(try body()) }
        return rows
    }
}

// MARK: - Arguments

/// The constant SQLITE_TRANSIENT. It makes SQLite copy a value when the value is bound, so that the bytes need not remain valid
/// after the call.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// A value that can be the argument of a statement.
protocol SQLiteBindable {
    /// Binds the value to the parameter with this index, from 1.
    func bindArgument(to statement: SQLiteStatement, at index: Int32)
}

extension PreparedStatement {
    var parameterCount: Int32 { sqlite3_bind_parameter_count(handle) }

    /// The number in a parameter's name, for example 2 for `$2`. SQLite treats `$2` as a name. The index that SQLite assigns to the
    /// parameter depends on where the name first occurs in the statement.
    func parameterNumber(_ index: Int32) -> Int? {
        sqlite3_bind_parameter_name(handle, index).flatMap { Int(String(cString: $0 + 1)) }
    }

    /// Binds the arguments to `?1`, `?2` and so on. An argument after the last parameter of the statement is ignored.
    func bind<each Value: SQLiteBindable>(_ values: repeat each Value) {
        var index: Int32 = 0
        for value in repeat each values {
            index += 1
            value.bindArgument(to: handle, at: index)
        }
    }

    /// Binds a list of arguments to `?1`, `?2` and so on. The length of the list need not be known at compile time.
    func bind(_ values: [any SQLiteBindable]) {
        for (index, value) in values.enumerated() { value.bindArgument(to: handle, at: Int32(index) + 1) }
    }

    /// Binds one argument.
    func bind(_ value: some SQLiteBindable, at index: Int32) { value.bindArgument(to: handle, at: index) }
}

extension Int64: SQLiteBindable {
    func bindArgument(to statement: SQLiteStatement, at index: Int32) { sqlite3_bind_int64(statement, index, self) }
}

extension Int: SQLiteBindable {
    func bindArgument(to statement: SQLiteStatement, at index: Int32) {
        sqlite3_bind_int64(statement, index, Int64(self))
    }
}

extension Bool: SQLiteBindable {
    func bindArgument(to statement: SQLiteStatement, at index: Int32) {
        sqlite3_bind_int64(statement, index, self ? 1 : 0)
    }
}

extension ScopeID: SQLiteBindable {
    func bindArgument(to statement: SQLiteStatement, at index: Int32) {
        rawValue.bindArgument(to: statement, at: index)
    }
}

extension Timestamp: SQLiteBindable {
    func bindArgument(to statement: SQLiteStatement, at index: Int32) {
        milliseconds.bindArgument(to: statement, at: index)
    }
}

/// Binds 16 bytes, most significant first.
private func bind(_ high: UInt64, _ low: UInt64, to statement: SQLiteStatement, at index: Int32) {
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) {
        _ = sqlite3_bind_blob(statement, index, $0.baseAddress, 16, transient)
    }
}

extension UniqueID: SQLiteBindable {
    func bindArgument(to statement: SQLiteStatement, at index: Int32) {
        HesperSQLite.bind(high, low, to: statement, at: index)
    }
}

extension Clock: SQLiteBindable {
    func bindArgument(to statement: SQLiteStatement, at index: Int32) {
        HesperSQLite.bind(time, node.rawValue, to: statement, at: index)
    }
}

extension Digest: SQLiteBindable {
    func bindArgument(to statement: SQLiteStatement, at index: Int32) {
        HesperSQLite.bind(high, low, to: statement, at: index)
    }
}

extension NodeID: SQLiteBindable {
    func bindArgument(to statement: SQLiteStatement, at index: Int32) {
        withUnsafeBytes(of: rawValue.bigEndian) {
            _ = sqlite3_bind_blob(statement, index, $0.baseAddress, 8, transient)
        }
    }
}

extension TokenHash: SQLiteBindable {
    func bindArgument(to statement: SQLiteStatement, at index: Int32) { bytes.bindArgument(to: statement, at: index) }
}

/// Bytes are bound as a BLOB.
extension [UInt8]: SQLiteBindable {
    func bindArgument(to statement: SQLiteStatement, at index: Int32) {
        withUnsafeBytes { _ = sqlite3_bind_blob(statement, index, $0.baseAddress, Int32($0.count), transient) }
    }
}

extension String: SQLiteBindable {
    func bindArgument(to statement: SQLiteStatement, at index: Int32) {
        var copy = self
        copy.withUTF8 { SQLiteText.bind(UnsafeRawBufferPointer($0), to: statement, at: index) }
    }
}

/// UTF-8 bytes that are bound as text.
struct SQLiteText: SQLiteBindable {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func bindArgument(to statement: SQLiteStatement, at index: Int32) {
        bytes.withUnsafeBytes { SQLiteText.bind($0, to: statement, at: index) }
    }

    fileprivate static func bind(_ text: UnsafeRawBufferPointer, to statement: SQLiteStatement, at index: Int32) {
        guard let base = text.baseAddress else {
            _ = sqlite3_bind_text(statement, index, "", 0, transient)
            return
        }
        _ = sqlite3_bind_text(statement, index, base.assumingMemoryBound(to: CChar.self), Int32(text.count), transient)
    }
}

extension Optional: SQLiteBindable where Wrapped: SQLiteBindable {
    func bindArgument(to statement: SQLiteStatement, at index: Int32) {
        if let self { self.bindArgument(to: statement, at: index) } else { sqlite3_bind_null(statement, index) }
    }
}

// MARK: - Columns

extension PreparedStatement: StoredRow {
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    func timestamp(_ column: Int32) -> Timestamp { Timestamp(clamping: integer(column)) }

    /// The bytes of a column. They are valid until the next call of ``step()``.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    func name(of column: Int32) -> String { sqlite3_column_name(handle, column).map { String(cString: $0) } ?? "?" }
}
