import CPostgres

/// Sends rows to a table in COPY's binary format (PostgreSQL, COPY, Binary Format).
struct CopyRows {
    private let connection: Connection
    private var bytes: [UInt8] = []

    /// The number of bytes that are buffered before they are passed to libpq.
    private static let chunk = 64 << 10

    fileprivate init(_ connection: Connection) {
        self.connection = connection
        bytes.append(contentsOf: CopyFields.header)
    }

    /// Adds a row. If the server does not accept more data yet, waits until it does.
    mutating func append(_ values: [PostgresValue]) throws {
        bytes.append(bigEndian: Int16(values.count))
        for value in values { try value.appendCounted(to: &bytes) }
        if bytes.count >= CopyRows.chunk { try send() }
    }

    fileprivate mutating func end() throws {
        bytes.append(bigEndian: Int16(-1))
        try send()
    }

    private mutating func send() throws {
        try connection.putCopy(bytes)
        bytes.removeAll(keepingCapacity: true)
    }
}

extension Connection {
    /// Copies rows into a table: `COPY t (a, b) FROM STDIN (FORMAT binary)`. The values must have exactly the columns' types.
    /// - Parameter body: a function that adds the rows. If it throws an error, no row is copied, and an open transaction can only
    ///   be rolled back.
    /// - Returns: the number of copied rows.
    @discardableResult
    func copyIn(_ sql: String, _ body: (inout CopyRows) throws -> Void) throws -> Int {
        try outsidePipeline {
            try beginCopy(sql, PGRES_COPY_IN)
            var rows = CopyRows(self)
            do {
                try body(&rows)
                try rows.end()
            } catch {
                guard brokenBy == nil else { throw error }
                // Abort the copy, so that no rows are stored. If the server reports an error other than this abort, that error is
                // thrown, because it is the cause.
                do {
                    try endCopy(sql, undoing: "aborted by the client")
                } catch let reported as PostgresError where reported.sqlState == "57014" {}
                throw error
            }
            return try endCopy(sql)
        }
    }
}
