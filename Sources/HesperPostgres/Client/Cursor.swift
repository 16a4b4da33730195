/// Rows that come a few at a time, as many as fill about a megabyte: for what may be large, or is left early. Several
/// may be open, and other statements in between; it lives as long as its transaction.
final class Cursor {
    private let connection: Connection
    private let name: String
    private var answer: Answer?
    private var index: Int32 = 0
    private var batch: Int32 = Cursor.firstBatch
    private var isAtEnd = false

    /// A body may have a megabyte: so many of them at once are bearable.
    private static let firstBatch: Int32 = 16
    /// However small those before were.
    private static let greatestBatch: Int32 = 128
    private static let batchBytes = 1 << 20

    fileprivate init(_ connection: Connection, _ sql: String, _ arguments: [PostgresValue]) throws {
        self.connection = connection
        name = connection.nextCursorName()
        // Declared and first fetched from in one round trip.
        connection.enqueue("DECLARE \(name) NO SCROLL CURSOR FOR \(sql)", arguments, isNamed: false)
        try fetch()
    }

    private func fetch() throws {
        let next = try connection.answer("FETCH \(batch) FROM \(name)", [], isNamed: false)
        isAtEnd = next.rowCount < batch
        if next.rowCount > 0 {
            let rowBytes = max(1, next.byteCount / Int(next.rowCount))
            batch = Int32(min(Int(Cursor.greatestBatch), max(Int(Cursor.firstBatch), Cursor.batchBytes / rowBytes)))
        }
        answer = next
        index = 0
    }

    /// How much of it is in memory.
    var heldBytes: Int { answer?.byteCount ?? 0 }

    /// What `body` makes of the next row; nil after the last.
    func next<T>(_ body: (Row) throws -> T) throws -> T? {
        if let answer, index >= answer.rowCount, !isAtEnd { try fetch() }
        guard let answer, index < answer.rowCount else { return nil }
        defer { index += 1 }
        return try answer.row(index, body)
    }

    /// Lets go of it on the server, before the transaction does.
    func close() {
        guard answer != nil else { return }
        answer = nil
        isAtEnd = true
        connection.enqueue("CLOSE \(name)", isNamed: false)
    }
}

extension Connection {
    /// Opens a cursor; only in a transaction. It is planned anew each time.
    func cursor(_ sql: String, _ arguments: [PostgresValue] = []) throws -> Cursor {
        try Cursor(self, sql, arguments)
    }
}
