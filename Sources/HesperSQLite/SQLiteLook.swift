import Foundation
import GRDB
import HesperModel
import HesperStore

/// A look at a database that changes nothing in it, not even its version: a server may have it open, and a later Hesper
/// may have written it.
public struct SQLiteOverview: Sendable {
    /// The version of its tables.
    public let version: Int
    /// The one that this Hesper knows.
    public static var knownVersion: Int { Migrations.version }
    /// What SQLite finds wrong with its pages, at most ``findingLimit`` sentences.
    public let findings: [String]
    /// Whose database it is; nil if that cannot be read.
    public let installation: NodeID?
    /// When the last push came, by the clock of then; nil if none ever did.
    public let lastPushDate: Timestamp?
    /// The accounts with the greatest clocks, the greatest first.
    public let greatestClocks: [AccountClock]

    private static let findingLimit = 10
    /// How long it waits for a server that just starts or stops, in seconds.
    private static let patience = 10.0

    /// - Parameter count: how many of ``greatestClocks`` are wanted.
    /// - Throws: ``StoreError``.
    public init(folder: URL, clocks count: Int = 0) throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(SQLiteOverview.patience)
        let path = folder.appending(path: SQLiteStore.fileName).path
        (version, findings, installation, lastPushDate, greatestClocks) = try namingErrors {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let found = try queue.inDatabase { database in
                let found = try String.fetchAll(database, sql: "PRAGMA quick_check(\(SQLiteOverview.findingLimit))")
                let last = try Int64.fetchOne(
                    database, sql: "SELECT pushed_at FROM edits ORDER BY number DESC LIMIT 1")
                let row = try Prepared("SELECT node FROM installation", on: database)
                let node = try row.first { row.nodeIfAny(0) }
                return (
                    try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0, found.filter { $0 != "ok" },
                    node, last.map { Timestamp(clamping: $0) },
                    try SQLiteSnapshot(database).greatestClocks(limit: count)
                )
            }
            try queue.close()
            return found
        }
    }
}
