import GRDB
import GRDBSQLite
import HesperModel
import HesperStore

/// A prepared statement with direct access to SQLite's values.
///
/// GRDB's rows copy every column, whereas this reads SQLite's own buffers. IDs, clocks, nodes and digests are BLOBs of 16 or
/// 8 bytes, most significant first, so that SQLite compares them as the model does.
struct PreparedStatement {
    /// Keeps the handle alive.
    private let statement: Statement
    private let handle: SQLiteStatement

    init(_ sql: String, on database: Database) throws {
        let cached = try database.cachedStatement(sql: sql)
        // The cached statement may be in use, as in a merge of two scans, or when the body of a scan runs the same statement.
        let isBusy = sqlite3_stmt_busy(cached.sqliteStatement) != 0
        statement = isBusy ? try database.makeStatement(sql: sql) : cached
        handle = statement.sqliteStatement
    }

    /// Advances to the next row. After the last row the statement is reset.
    /// - Returns: whether there is a row.
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
    /// - Returns: how many rows it changed.
    @discardableResult
    func run() throws -> Int {
        while try step() {}
        return Int(sqlite3_changes(sqlite3_db_handle(handle)))
    }

    /// Resets the statement. Until then its snapshot cannot end.
    func reset() { sqlite3_reset(handle) }

    /// Calls `body` for each row, and resets the statement, also after an error.
    func eachRow(_ body: () throws -> Void) throws {
        defer { reset() }
        while try step() { try body() }
    }

    /// Returns what `body` makes of the first row; nil if there is no row.
    func first<T>(_ body: () throws -> T?) throws -> T? {
        defer { reset() }
        return try step() ? try body() : nil
    }

    /// Returns what `body` makes of each row.
    func all<T>(_ body: () throws -> T) throws -> [T] {
        var rows: [T] = []
        try eachRow { rows.append(try body()) }
        return rows
    }
}

// MARK: - Arguments

/// Tells SQLite to copy a bound value, so that the bytes need not outlive the call.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

extension PreparedStatement {
    var parameterCount: Int32 { sqlite3_bind_parameter_count(handle) }

    /// The number in a parameter's name. SQLite treats `$2` as a name, and numbers parameters in order of appearance.
    func parameterNumber(_ index: Int32) -> Int? {
        sqlite3_bind_parameter_name(handle, index).flatMap { Int(String(cString: $0 + 1)) }
    }

    func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(handle, index, value) }
    func bind(_ index: Int32, _ value: Int) { sqlite3_bind_int64(handle, index, Int64(value)) }
    func bind(_ index: Int32, _ value: Bool) { sqlite3_bind_int64(handle, index, value ? 1 : 0) }
    func bind(_ index: Int32, _ value: ScopeID) { bind(index, value.rawValue) }
    func bind(_ index: Int32, _ value: Timestamp) { bind(index, value.milliseconds) }
    func bind(_ index: Int32, _ value: UniqueID) { bind(index, value.high, value.low) }
    func bind(_ index: Int32, _ value: Clock) { bind(index, value.time, value.node.rawValue) }
    func bind(_ index: Int32, _ value: Digest) { bind(index, value.high, value.low) }
    func bindNull(_ index: Int32) { sqlite3_bind_null(handle, index) }

    func bind(_ index: Int32, _ value: NodeID) {
        withUnsafeBytes(of: value.rawValue.bigEndian) {
            _ = sqlite3_bind_blob(handle, index, $0.baseAddress, 8, transient)
        }
    }

    private func bind(_ index: Int32, _ high: UInt64, _ low: UInt64) {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) {
            _ = sqlite3_bind_blob(handle, index, $0.baseAddress, 16, transient)
        }
    }

    func bind(_ index: Int32, _ value: TokenHash) {
        value.bytes.withUnsafeBytes {
            _ = sqlite3_bind_blob(handle, index, $0.baseAddress, Int32($0.count), transient)
        }
    }

    func bind(_ index: Int32, _ value: String) {
        var value = value
        value.withUTF8 { bind(index, text: UnsafeRawBufferPointer($0)) }
    }

    func bind(_ index: Int32, blob: [UInt8]?) {
        guard let blob else { return bindNull(index) }
        blob.withUnsafeBytes { _ = sqlite3_bind_blob(handle, index, $0.baseAddress, Int32($0.count), transient) }
    }

    /// Binds UTF-8 bytes as text.
    func bind(_ index: Int32, text: [UInt8]) { text.withUnsafeBytes { bind(index, text: $0) } }

    private func bind(_ index: Int32, text: UnsafeRawBufferPointer) {
        guard let base = text.baseAddress else {
            _ = sqlite3_bind_text(handle, index, "", 0, transient)
            return
        }
        _ = sqlite3_bind_text(handle, index, base.assumingMemoryBound(to: CChar.self), Int32(text.count), transient)
    }

    func bind(_ index: Int32, _ value: Int64?) { if let value { bind(index, value) } else { bindNull(index) } }
    func bind(_ index: Int32, _ value: Timestamp?) { bind(index, value?.milliseconds) }
    func bind(_ index: Int32, _ value: String?) { if let value { bind(index, value) } else { bindNull(index) } }
    func bind(_ index: Int32, _ value: UniqueID?) { if let value { bind(index, value) } else { bindNull(index) } }
    func bind(_ index: Int32, _ value: Clock?) { if let value { bind(index, value) } else { bindNull(index) } }
    func bind(_ index: Int32, _ value: NodeID?) { if let value { bind(index, value) } else { bindNull(index) } }
}

// MARK: - Columns

extension PreparedStatement: StoredRow {
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    func timestamp(_ column: Int32) -> Timestamp { Timestamp(clamping: integer(column)) }

    /// The bytes of a column; valid until the next step.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    func name(of column: Int32) -> String { sqlite3_column_name(handle, column).map { String(cString: $0) } ?? "?" }
}
