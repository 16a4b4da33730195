/// The rows of a query, fetched in batches of about a megabyte: for results that may be large or are not read to the end.
/// Several cursors may be open at once, with other statements in between. A cursor ends with its transaction.
final class Cursor {
    private let connection: Connection
    private let name: String
    private var result: QueryResult?
    private var index: Int32 = 0
    private var batch: Int32 = Cursor.firstBatch
    private var isAtEnd = false

    /// A body may have a megabyte, so the first batch is small.
    private static let firstBatch: Int32 = 16
    /// The maximum, however small the rows were so far.
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

    /// Returns what `body` makes of the next row; nil after the last.
    func next<T>(_ body: (Row) throws -> T) throws -> T? {
        if let result, index >= result.rowCount, !isAtEnd { try fetch() }
        guard let result, index < result.rowCount else { return nil }
        defer { index += 1 }
        return try result.row(index, body)
    }

    /// Closes the cursor on the server before the transaction ends.
    func close() {
        guard result != nil else { return }
        result = nil
        isAtEnd = true
        connection.enqueue("CLOSE \(name)", isPrepared: false)
    }
}

extension Connection {
    /// Opens a cursor; requires an open transaction. The query is planned anew each time.
    func cursor(_ sql: String, _ arguments: [PostgresValue] = []) throws -> Cursor {
        try Cursor(self, sql, arguments)
    }
}
