import HesperModel
import HesperStore

/// What brings a database of any earlier version to this one, in order, each step in a transaction.
///
/// Servers that start at once come one after the other: each asks for the version while it has a lock that nothing else
/// takes.
enum Migrations {
    private static let all: [@Sendable (Connection) throws -> Void] = [
        createTables, addAddresses, addRevocations, addTickets, addVerifications, addDescent,
        addChecksums, addBlobStore, addQuotas,
    ]

    /// The version that this Hesper reads and writes.
    static var version: Int { all.count }

    /// How many rows get their checksum in one statement.
    private static let checksumBatch = 1_000

    /// The key of the lock, "hesper" in ASCII.
    private static let lock: Int64 = 0x6865_7370_6572

    /// What is long for a request may be short for a migration: as long as this one may take, nobody cancels it.
    private static let patience = Duration.seconds(24 * 60 * 60)

    /// - Parameter makes: whether to begin in a database that is empty.
    /// - Throws: ``StoreError/newerDatabase(version:known:)``, ``DatabaseEmpty``; having changed nothing.
    static func run(on connection: Connection, making makes: Bool = true) throws {
        try checkEncoding(connection)
        // Most starts find nothing to do, and need no right but to read.
        let first = try found(on: connection)
        if first == version { return }
        guard first > 0 || makes else { throw DatabaseEmpty() }
        connection.patience = patience
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

    /// The version of the database, 0 if it is empty.
    /// - Throws: ``StoreError/newerDatabase(version:known:)``.
    static func found(on connection: Connection) throws -> Int {
        // Not by to_regclass: what that once did not find, it does not find in the same transaction either.
        let isThere =
            try connection.first(
                "SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'hesper' AND relkind = 'r' AND pg_table_is_visible(oid))"
            ) { $0.bool(0) } ?? false
        guard isThere else { return 0 }
        let found = try connection.first("SELECT version FROM hesper") { $0.int(0) } ?? 0
        guard found <= version else { throw StoreError.newerDatabase(version: found, known: version) }
        return found
    }

    /// Texts are UTF-8 and nothing else; a database of another encoding would refuse half of them, one by one.
    private static func checkEncoding(_ connection: Connection) throws {
        let encoding = try connection.first("SELECT current_setting('server_encoding')") { $0.string(0) } ?? ""
        guard encoding == "UTF8" else {
            throw StoreError.failed(
                "the database has the encoding \(encoding): make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
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
        // A body may have a megabyte: they come a few at a time, and the cursor does not see the updates.
        let rows = try connection.cursor("SELECT \(ParcelChecksum.columns), number FROM edits")
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
        while let sum = try rows.next({ ($0.integer(8), $0.integer(15), $0.parcelChecksum()) }) {
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
}
