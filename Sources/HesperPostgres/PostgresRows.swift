import HesperModel
import HesperStore

/// A PostgreSQL database as the target of a move. It uses one connection and an advisory lock that prevents a second move.
public final class PostgresRows: RowTarget {
    let connection: Connection

    /// The key of the advisory lock; "moving" in ASCII.
    private static let lock: Int64 = 0x6d6f_7669_6e67
    /// A high limit: copying and counting all rows takes longer than a request's statements.
    private static let statementTimeout = Duration.seconds(24 * 60 * 60)
    /// How long to wait for the session of a killed move to end.
    private static let grace = Duration.seconds(10)

    private init(_ connection: Connection) { self.connection = connection }

    /// Opens a database for the duration of `body`; creates or migrates its tables first.
    /// - Throws: ``MoveRefusal/inUse``; ``StoreError``.
    public static func whileOpen<T>(_ connectionString: String, _ body: (PostgresRows) throws -> T) throws -> T {
        try mappingErrors {
            var settings = PostgresSettings(connectionString)
            settings.takesUseLock = false
            let connection = try Connection(settings)
            connection.timeout = statementTimeout
            try connection.execute(
                script: "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0")
            // The server then notices soon if this process is killed. Not supported on all platforms.
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

    /// Whether other servers or commands are connected; a running server always is. If none is, new ones wait until this
    /// transaction ends.
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

    /// A list for the text of a COPY, which takes no arguments. Numbers are safe to insert.
    private static func list(_ scopes: [ScopeID]) -> String { scopes.map { "\($0.rawValue)" }.joined(separator: ",") }
}
