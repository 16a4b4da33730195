/// Reads the rows of a query in batches of about a megabyte. Used for results that may be large, or that may not be read to the
/// end. Several cursors may be open at once, with other statements in between. A cursor ends with its transaction.
final class Cursor {
    private let connection: Connection
    private let name: String
    private var result: QueryResult?
    private var index: Int32 = 0
    private var batch: Int32 = Cursor.firstBatch
    private var isAtEnd = false

    /// The number of rows in the first batch, and the minimum number of rows in each later batch. It is small because a row may
    /// be as large as a megabyte.
    private static let firstBatch: Int32 = 16
    /// The maximum number of rows in a batch, even if all rows so far were small.
    private static let greatestBatch: Int32 = 128
    private static let batchBytes = 1 << 20

    fileprivate init(_ connection: Connection, _ sql: String, _ arguments: [PostgresValue]) throws {
        self.connection = connection
        name = connection.nextCursorName()
        // DECLARE and the first FETCH take one round trip together.
        connection.enqueue("DECLARE \(name) NO SCROLL CURSOR FOR \(sql)", arguments, isPrepared: false)
        try fetch()
    }

    private func fetch() throws {
        let next = try connection.result("FETCH \(batch) FROM \(name)", [], isPrepared: false)
        isAtEnd = next.rowCount < batch
        if next.rowCount > 0 {
            let rowBytes = max(1, next.byteCount / Int(next.rowCount))
            batch = Int32(min(Int(Cursor.greatestBatch), max(Int(Cursor.firstBatch), Cursor.batchBytes / rowBytes)))
        }
        result = next
        index = 0
    }

    /// The approximate number of bytes of the batch in memory.
    var heldBytes: Int { result?.byteCount ?? 0 }

    /// Calls `body` for the next row and returns its result; nil after the last row.
    func next<T>(_ body: (Row) throws -> T) throws -> T? {
        if let result, index >= result.rowCount, !isAtEnd { try fetch() }
        guard let result, index < result.rowCount else { return nil }
        defer { index += 1 }
        return try result.row(index, body)
    }

    /// Closes the cursor on the server now, instead of at the end of the transaction.
    func close() {
        guard result != nil else { return }
        result = nil
        isAtEnd = true
        connection.enqueue("CLOSE \(name)", isPrepared: false)
    }
}

extension Connection {
    /// Opens a cursor. A transaction must be open. PostgreSQL plans the query each time, because it is not prepared.
    func cursor(_ sql: String, _ arguments: [PostgresValue] = []) throws -> Cursor {
        try Cursor(self, sql, arguments)
    }
}
