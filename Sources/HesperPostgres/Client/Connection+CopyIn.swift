import CPostgres

/// Rows on their way into a table, in COPY's binary format (PostgreSQL, COPY, Binary Format).
struct CopyRows {
    private let connection: Connection
    private var bytes: [UInt8] = []

    /// How much is gathered before it is handed to libpq.
    private static let chunk = 64 << 10

    fileprivate init(_ connection: Connection) {
        self.connection = connection
        bytes.append(contentsOf: CopyFields.header)
    }

    /// Adds a row; waits when the server takes no more for now.
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
    /// Copies rows into a table: `COPY t (a, b) FROM STDIN (FORMAT binary)`. The values must have the columns' very types.
    /// - Parameter body: adds the rows; an error of it undoes the copy, and the transaction if there is one.
    /// - Returns: how many rows there were.
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
                // What the server has to say of it is the cause, unless it only repeats ours.
                do {
                    try endCopy(sql, undoing: "given up")
                } catch let said as PostgresError where said.sqlState == "57014" {}
                throw error
            }
            return try endCopy(sql)
        }
    }
}
