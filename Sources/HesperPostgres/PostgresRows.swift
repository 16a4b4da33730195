import HesperModel
import HesperStore

/// A PostgreSQL database, as the target of a move from another database. It uses one connection, and holds an advisory lock that
/// prevents a second move.
public final class PostgresRows: RowTarget {
    let connection: Connection

    /// The key of the advisory lock that is held during a move from another database. It is "moving" in ASCII.
    private static let lock: Int64 = 0x6d6f_7669_6e67
    /// The timeout of a statement. It is long because copying and counting all rows takes much longer than a request.
    private static let statementTimeout = Duration.seconds(24 * 60 * 60)
    /// The maximum time to wait for the lock. If an earlier move was killed, its session still holds the lock for a few seconds.
    private static let grace = Duration.seconds(10)

    private init(_ connection: Connection) { self.connection = connection }

    /// Opens a database, creates or migrates its tables, runs `body`, and closes it.
    /// - Throws: ``MoveRefusal/inUse`` if another move is running; ``StoreError``.
    public static func whileOpen<T>(_ connectionString: String, _ body: (PostgresRows) throws -> T) throws -> T {
        try mappingErrors {
            var settings = PostgresSettings(connectionString)
            settings.takesUseLock = false
            let connection = try Connection(settings)
            connection.timeout = statementTimeout
            try connection.execute(
                script: "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0")
            // With this setting, PostgreSQL soon notices if this process is killed. Not all platforms support the setting, so
            // errors are ignored.
            _ = try? connection.run("SET client_connection_check_interval = '1s'")
            try Migrations.run(on: connection)
            try takeLock(on: connection)
            return try body(PostgresRows(connection))
        }
    }

    private static func takeLock(on connection: Connection) throws {
        let end = ContinuousClock.now + grace
        repeat {
            if try connection.first("SELECT pg_try_advisory_lock($1)", [.int8(lock)], { $0.bool(0) }) == true { return }
            try connection.run("SELECT pg_sleep(0.2)")
        } while .now < end
        throw MoveRefusal.inUse
    }

    /// Whether other processes of Hesper are connected to the database. A running server is always connected. If no other process
    /// is connected, acquires a lock that makes new connections wait until this transaction ends.
    func isInUse() throws -> Bool {
        try connection.first("SELECT NOT pg_try_advisory_xact_lock($1)", [.int8(PostgresSettings.useLock)]) {
            $0.bool(0)
        }
            ?? true
    }

    public func installation() throws -> Installation? {
        do { return try PostgresSnapshot(connection).installation() } catch StoreError.unfinished { return nil }
    }

    public func rowCounts() throws -> [ScopeID: Int] {
        var counts: [ScopeID: Int] = [:]
        for table in MovedTable.ofScopes {
            try connection.query("SELECT \(table.scope), count(*) FROM \(table.name) GROUP BY 1") { row in
                counts[row.scope(0), default: 0] += row.int(1)
                return true
            }
        }
        return counts
    }

    public func lastScope() throws -> Int64 {
        try connection.first(
            "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('scopes', 'id')), 0)"
        ) { $0.integer(0) } ?? 0
    }

    public func read(_ table: MovedTable, of scopes: [ScopeID]?, _ body: ([MovedValue]) throws -> Void) throws {
        var sql = "SELECT \(table.list) FROM \(table.name)"
        if let scopes { sql += " WHERE \(table.scope) = ANY ('{\(PostgresRows.list(scopes))}')" }
        if let order = table.order { sql += " ORDER BY \(order)" }
        var row: [MovedValue] = []
        try connection.copyOut("COPY (\(sql)) TO STDOUT (FORMAT binary)") { fields in
            row.removeAll(keepingCapacity: true)
            for (column, field) in zip(table.columns, fields) { row.append(try column.value(of: field)) }
            try body(row)
            return true
        }
    }

    /// The numbers of the scopes, separated by commas, for the SQL text of a COPY, which cannot have parameters. Numbers need no
    /// escapes.
    private static func list(_ scopes: [ScopeID]) -> String { scopes.map { "\($0.rawValue)" }.joined(separator: ",") }
}
