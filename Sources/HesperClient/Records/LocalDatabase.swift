internal import Foundation
package import GRDB
package import HesperModel

/// The local copy: a SQLite database in a file, or in memory for tests.
///
/// Each type has a table `object.<type>` with one row for each object; see ``ObjectColumns``. The other tables
/// contain, among other data, DeletedObjects, unacknowledged deletions, rejected changes, notices, the state of sync, and local
/// values of the app.
package final class LocalDatabase: Sendable {
    package let writer: any DatabaseWriter
    /// Returns the time of the wall clock.
    package let now: @Sendable () -> Timestamp
    /// Makes the IDs of new objects and nodes. The simulator passes a seeded generator, so that runs are reproducible.
    package let makeID: @Sendable () -> UniqueID
    /// For each table, counts the changes that are made by any process that has the database file open.
    let tableVersions = TableVersions()

    /// Opens or creates a local copy.
    /// - Parameter path: the path of the database file; nil for a database in memory.
    package init(
        path: String?, now: @escaping @Sendable () -> Timestamp = LocalDatabase.wallClock,
        makeID: @escaping @Sendable () -> UniqueID = UniqueID.random
    ) throws {
        self.now = now
        self.makeID = makeID
        var configuration = Configuration()
        configuration.label = "hesper.client"
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { TextFunction.install(in: $0) }
        if let path {
            writer = try DatabasePool(path: path, configuration: configuration)
            // GRDB sets `synchronous` to NORMAL. Only FULL makes an edit durable before `write` returns.
            try writer.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        } else {
            writer = try DatabaseQueue(configuration: configuration)
        }
        try writer.write { database in
            let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            guard version <= LocalDatabase.version else { throw LocalDatabaseError.newerVersion }
            if version == 0 { try database.execute(sql: LocalDatabase.schema) }
            try database.execute(sql: "CREATE TABLE IF NOT EXISTS local (name TEXT PRIMARY KEY, value BLOB NOT NULL)")
            try tableVersions.begin(database)
        }
    }

    package static let wallClock: @Sendable () -> Timestamp = {
        Timestamp(clamping: Int64(Date().timeIntervalSince1970 * 1_000))
    }

    /// Runs one write transaction. Nothing is written if `body` throws.
    package func write<R>(_ body: (RecordsTransaction) throws -> R) throws -> R {
        try writer.write { database in
            // Changes of a database in memory need not be counted, because no other process can open it.
            let versions = writer is DatabaseQueue ? nil : tableVersions
            let transaction = RecordsTransaction(database, now: now(), makeID: makeID, tableVersions: versions)
            let result = try body(transaction)
            try transaction.finish()
            return result
        }
    }

    /// Reads from one snapshot.
    package func read<R>(_ body: (RecordsTransaction) throws -> R) throws -> R {
        func read(_ database: Database) throws -> R {
            try body(RecordsTransaction(database, now: now(), makeID: makeID))
        }
        // A database in memory has one connection. GRDB's `read` would make this connection read-only and then writable again.
        // After each switch, SQLite would have to prepare all cached statements again.
        if let queue = writer as? DatabaseQueue { return try queue.inDatabase(read) }
        return try writer.read(read)
    }

    /// The version of the schema, in `PRAGMA user_version`. Adding an index, or the table of a type, does not change it.
    private static let version = 1
    private static let schema = """
        CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE types (name TEXT PRIMARY KEY);
        CREATE TABLE deleted (
            id BLOB PRIMARY KEY, type TEXT NOT NULL, mergedInto BLOB, rescuedInto BLOB, date INTEGER NOT NULL);
        CREATE TABLE deletions (
            id BLOB PRIMARY KEY, type TEXT NOT NULL, heldUntil INTEGER NOT NULL, record TEXT NOT NULL);
        CREATE TABLE shelf (number INTEGER PRIMARY KEY, id BLOB NOT NULL, record TEXT NOT NULL);
        CREATE INDEX shelf_id ON shelf (id);
        CREATE TABLE notices (number INTEGER PRIMARY KEY, id BLOB NOT NULL, record TEXT NOT NULL);
        CREATE TABLE bytes (
            id BLOB PRIMARY KEY, file BLOB NOT NULL, byteCount INTEGER NOT NULL, lastUse INTEGER NOT NULL);
        CREATE TABLE tableVersions (name TEXT PRIMARY KEY, number INTEGER NOT NULL);
        CREATE TABLE relays (id BLOB PRIMARY KEY, record TEXT NOT NULL);
        PRAGMA user_version = 1;
        """

    /// The name of the table of a type's objects, quoted for SQL.
    package static func table(_ type: String) -> String { quoted("object.\(type)") }

    /// The name of a table or an index, quoted for SQL.
    static func quoted(_ name: String) -> String {
        // `replacing` is slow, so it is only called for names with a quotation mark. No type that the server accepts contains one.
        name.utf8.contains(UInt8(ascii: "\"")) ? "\"\(name.replacing("\"", with: "\"\""))\"" : "\"\(name)\""
    }

    /// The statements that create the table of a type.
    static func schema(of type: String) -> String {
        let table = table(type)
        let index = quoted("pending.\(type)")
        return """
            CREATE TABLE IF NOT EXISTS \(table) (
                row INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, body TEXT NOT NULL, clocks TEXT NOT NULL, pending TEXT,
                digest BLOB, isHidden INTEGER NOT NULL DEFAULT 0);
            CREATE INDEX IF NOT EXISTS \(index) ON \(table) (row) WHERE pending IS NOT NULL;
            """
    }
}

/// The reason why a local copy cannot be opened or read.
package enum LocalDatabaseError: Error, Equatable {
    /// A later version of the library wrote the database file.
    case newerVersion
    /// A row cannot be read. The associated value is the reason.
    case damaged(String)
}
