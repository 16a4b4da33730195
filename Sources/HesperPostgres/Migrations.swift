import HesperModel
import HesperStore

/// The migrations, in order. Each brings the tables from one version to the next, in one transaction.
///
/// A server reads the version and migrates while it holds an advisory lock, so that servers that start at the same time do not
/// run the same migration.
enum Migrations {
    private static let all: [@Sendable (Connection) throws -> Void] = [
        createTables, addAddresses, addRevocations, addTickets, addVerifications, addDescent,
        addChecksums, addBlobStore, addQuotas, addIdempotencyKeys, addTokens, addTextNames,
        addImports, addWebhooks,
    ]

    /// The version of the tables that this program reads and writes.
    static var version: Int { all.count }

    /// The number of rows of `edits` whose checksums are set by one statement.
    private static let checksumBatch = 1_000

    /// The key of the advisory lock that serializes migrations. It is "hesper" in ASCII.
    private static let lock: Int64 = 0x6865_7370_6572

    /// The timeout of a statement. It is long because a migration may take much longer than a request.
    private static let statementTimeout = Duration.seconds(24 * 60 * 60)

    /// Runs the migrations that the database needs.
    /// - Parameter createIfEmpty: whether to create the tables in a database that has none.
    /// - Throws: ``StoreError/newerDatabase(version:known:)`` if a later version of Hesper has migrated the database,
    ///   ``DatabaseEmpty`` if it has no tables and `createIfEmpty` is false. The database is then unchanged.
    static func run(on connection: Connection, createIfEmpty: Bool = true) throws {
        try checkEncoding(connection)
        // Usually no migration is needed. Then nothing is written, so the database role needs no right to create tables.
        let first = try found(on: connection)
        if first == version { return }
        guard first > 0 || createIfEmpty else { throw DatabaseEmpty() }
        connection.timeout = statementTimeout
        for _ in 0...all.count {
            connection.enqueue("BEGIN")
            connection.enqueue("SET LOCAL statement_timeout = 0")
            connection.enqueue("SET LOCAL lock_timeout = 0")
            try connection.query("SELECT pg_advisory_xact_lock($1)", [.int8(lock)]) { _ in true }
            let found = try found(on: connection)
            guard found < version else {
                try connection.run("ROLLBACK")
                return
            }
            try all[found](connection)
            connection.enqueue("UPDATE hesper SET version = $1", [.int(found + 1)], expecting: 1)
            try connection.run("COMMIT")
        }
    }

    /// The version of the database's tables; 0 if there are none.
    /// - Throws: ``StoreError/newerDatabase(version:known:)`` if a later version of Hesper has migrated the database.
    static func found(on connection: Connection) throws -> Int {
        // to_regclass would not find a table that another server has created meanwhile: its result is cached during a
        // transaction.
        let isThere =
            try connection.first(
                "SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'hesper' AND relkind = 'r' AND pg_table_is_visible(oid))"
            ) { $0.bool(0) } ?? false
        guard isThere else { return 0 }
        let found = try connection.first("SELECT version FROM hesper") { $0.int(0) } ?? 0
        guard found <= version else { throw StoreError.newerDatabase(version: found, known: version) }
        return found
    }

    /// Throws an error if the encoding of the database is not UTF-8, because a database with another encoding rejects some texts.
    private static func checkEncoding(_ connection: Connection) throws {
        let encoding = try connection.first("SELECT current_setting('server_encoding')") { $0.string(0) } ?? ""
        guard encoding == "UTF8" else {
            throw StoreError.failed(
                """
                the database encoding is \(encoding), but must be UTF8: create a database with CREATE DATABASE … ENCODING \
                'UTF8' TEMPLATE template0
                """
            )
        }
    }

    @Sendable private static func createTables(_ connection: Connection) throws {
        try connection.execute(
            script: """
                CREATE TABLE hesper (one boolean PRIMARY KEY CHECK (one), version bigint NOT NULL);
                INSERT INTO hesper VALUES (true, 0);
                """)
        for script in [
            Schema.installation, Schema.accounts, Schema.scopes, Schema.objects, Schema.search,
            SchemaOfAttachments.blobs, SchemaOfAttachments.sweeps, SchemaOfStatistics.statistics, SchemaOfViews.views,
        ] { try connection.execute(script: script) }
        connection.enqueue(
            "INSERT INTO installation (one, epoch, node) VALUES (true, $1, $2)",
            [.int8(.random(in: 1 ... .max)), .node(.random())])
    }

    @Sendable private static func addAddresses(_ connection: Connection) throws {
        try connection.execute(script: SchemaOfDevices.lastUseAddress)
    }

    @Sendable private static func addRevocations(_ connection: Connection) throws {
        try connection.execute(script: SchemaOfDevices.revocations)
    }

    @Sendable private static func addTickets(_ connection: Connection) throws {
        try connection.execute(script: SchemaOfTickets.tables)
    }

    @Sendable private static func addVerifications(_ connection: Connection) throws {
        try connection.execute(script: SchemaOfAccounts.emailVerificationDate)
    }

    @Sendable private static func addDescent(_ connection: Connection) throws {
        try connection.execute(script: SchemaOfTexts.descent)
    }

    @Sendable private static func addChecksums(_ connection: Connection) throws {
        try connection.execute(script: SchemaOfTexts.checksums)
        // The rows are read with a cursor because a body may be as large as a megabyte. The cursor does not see the updates below.
        let rows = try connection.cursor("SELECT \(ParcelChecksum.columnsOfVersion8), number FROM edits")
        var sums: [(scope: Int64, number: Int64, checksum: Int64)] = []
        func write() {
            connection.enqueue(
                """
                UPDATE edits e SET checksum = n.checksum
                FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS n (scope, number, checksum)
                WHERE e.scope = n.scope AND e.number = n.number
                """,
                [.int8Array(sums.map(\.scope)), .int8Array(sums.map(\.number)), .int8Array(sums.map(\.checksum))],
                expecting: sums.count)
            sums = []
        }
        while let sum = try rows.next({ ($0.integer(8), $0.integer(16), $0.parcelChecksum()) }) {
            sums.append(sum)
            if sums.count == checksumBatch { write() }
        }
        rows.close()
        write()
    }

    @Sendable private static func addBlobStore(_ connection: Connection) throws {
        try connection.execute(script: SchemaOfAttachments.blobStore)
    }

    @Sendable private static func addQuotas(_ connection: Connection) throws {
        try connection.execute(script: SchemaOfQuotas.columns)
    }

    @Sendable private static func addIdempotencyKeys(_ connection: Connection) throws {
        try connection.execute(script: SchemaOfIdempotencyKeys.tables)
    }

    @Sendable private static func addTextNames(_ connection: Connection) throws {
        try connection.execute(script: SchemaOfTexts.names)
    }

    @Sendable private static func addTokens(_ connection: Connection) throws {
        try connection.execute(script: SchemaOfDevices.tokens)
    }

    @Sendable private static func addImports(_ connection: Connection) throws {
        try connection.execute(script: SchemaOfImports.tables)
    }

    @Sendable private static func addWebhooks(_ connection: Connection) throws {
        try connection.execute(script: SchemaOfWebhooks.tables)
    }
}
