import Foundation
import GRDB
import HesperModel
import HesperStore

/// A summary of a database file. The file is not changed, and its tables are not migrated. So the tables may have any version, and
/// a server may have the file open.
public struct SQLiteOverview: Sendable {
    /// The version of the database's tables.
    public let version: Int
    /// The version of the tables that this program reads and writes.
    public static var knownVersion: Int { Migrations.version }
    /// The findings of SQLite's quick check, at most ``findingLimit``.
    public let findings: [String]
    /// The node of the installation's clocks; nil if the database contains none.
    public let installation: NodeID?
    /// The date of the most recent push, by the server's clock at that time; nil if there was none.
    public let lastPushDate: Timestamp?
    /// The accounts with the greatest clocks, in descending order of clocks.
    public let greatestClocks: [AccountClock]

    private static let findingLimit = 10
    /// The maximum number of seconds to wait for a server that is starting or stopping.
    private static let busyTimeout = 10.0

    /// Reads the summary of a database.
    /// - Parameters:
    ///   - folder: the folder that contains the database.
    ///   - count: the maximum number of ``greatestClocks`` to read.
    /// - Throws: ``StoreError``.
    public init(folder: URL, clocks count: Int = 0) throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(SQLiteOverview.busyTimeout)
        let path = folder.appending(path: SQLiteStore.fileName).path
        (version, findings, installation, lastPushDate, greatestClocks) = try mappingErrors {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let found = try queue.inDatabase { database in
                let found = try String.fetchAll(database, sql: "PRAGMA quick_check(\(SQLiteOverview.findingLimit))")
                let last = try Int64.fetchOne(
                    database, sql: "SELECT pushed_at FROM edits ORDER BY number DESC LIMIT 1")
                let row = try PreparedStatement("SELECT node FROM installation", on: database)
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
