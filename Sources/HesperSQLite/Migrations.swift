import Foundation
import GRDB
import HesperModel
import HesperStore

/// What brings a database of any earlier version to this one, in order, each step in a transaction.
///
/// The version is SQLite's `user_version`, read and written under the write lock: two processes that start at once do not
/// both migrate.
enum Migrations {
    private static let all: [@Sendable (Database) throws -> Void] = [createTables]

    /// The version that this Hesper reads and writes.
    static var version: Int { all.count }

    /// - Throws: ``StoreError/newerDatabase(version:known:)``, having changed nothing.
    static func run(on database: Database) throws {
        for _ in 0...all.count {
            var isDone = false
            try database.inTransaction(.immediate) {
                let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
                guard found <= all.count else { throw StoreError.newerDatabase(version: found, known: all.count) }
                guard found < all.count else {
                    isDone = true
                    return .rollback
                }
                try all[found](database)
                try database.execute(sql: "PRAGMA user_version = \(found + 1)")
                return .commit
            }
            if isDone { return }
        }
    }

    @Sendable private static func createTables(_ database: Database) throws {
        try database.execute(sql: Schema.tables)
        try database.execute(sql: Schema.views)
        let node = withUnsafeBytes(of: NodeID.random().rawValue.bigEndian) { Data($0) }
        try database.execute(
            sql: "INSERT INTO installation (one, epoch, node) VALUES (1, ?, ?)",
            arguments: [Int64(bitPattern: .random(in: 1 ... .max)), node])
    }
}
