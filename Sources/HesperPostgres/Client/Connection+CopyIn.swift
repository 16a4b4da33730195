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
        // Each chunk has its own time: what is limited is how long the server stands still.
        var patience = Patience(connection.patience)
        try connection.putCopy(bytes, &patience)
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
                PQputCopyEnd(handle, "given up")
                // What the server has to say of it is the cause, unless it only repeats ours.
                do { try finish(sql) } catch let said as PostgresError where said.sqlState == "57014" {}
                throw error
            }
            guard PQputCopyEnd(handle, nil) == 1 else { throw lost() }
            return try finish(sql)
        }
    }

    fileprivate func putCopy(_ bytes: [UInt8], _ patience: inout Patience) throws {
        let isPut = bytes.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { PQputCopyData(handle, $0.baseAddress, Int32($0.count)) }
        }
        guard isPut == 1 else { throw lost() }
        while PQflush(handle) == 1 {
            try wait(forSending: true, &patience)
            // An error that comes meanwhile is read at the end: until then the server passes over what it is sent.
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
    }

    func beginCopy(_ sql: String, _ direction: ExecStatusType) throws {
        log?(sql)
        guard PQsendQuery(handle, sql) == 1 else { throw lost() }
        roundTrips += 1
        var patience = Patience(patience)
        guard let result = try nextResult(&patience) else { throw broke(.lost("out of step")) }
        defer { PQclear(result) }
        guard PQresultStatus(result) == direction else {
            let error = PostgresError(result, statement: sql)
            try finish(sql)
            throw error
        }
    }
}
