import Foundation
import GRDB
import HesperModel
import HesperStore

/// The migrations, in order. Each brings the tables from one version to the next, in one transaction.
///
/// The version of a database is stored as SQLite's `user_version`. It is read and written while the write lock is held, so that
/// two processes that start at the same time do not both migrate.
enum Migrations {
    private static let all: [@Sendable (Database) throws -> Void] = [
        createTables, addAttachments, addAddresses, addRevocations, addTickets, addVerifications, addDescent,
        addChecksums, addBlobStore, addQuotas, addIdempotencyKeys, addTokens, addTextNames,
        addImports, addWebhooks,
    ]

    /// The version of the tables that this program reads and writes.
    static var version: Int { all.count }

    /// Runs the migrations that the database needs.
    /// - Parameter version: the version to migrate to. Only tests and the salvage of a damaged database pass a version that is
    ///   earlier than the current version.
    /// - Throws: ``StoreError/newerDatabase(version:known:)`` if a later version of Hesper has migrated the database. The database
    ///   is then unchanged.
    static func run(on database: Database, to version: Int = Migrations.version) throws {
        for _ in 0...all.count {
            var isDone = false
            try database.inTransaction(.immediate) {
                let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
                guard found <= all.count else { throw StoreError.newerDatabase(version: found, known: all.count) }
                guard found < version else {
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

    @Sendable private static func addAttachments(_ database: Database) throws {
        try database.execute(sql: SchemaOfAttachments.tables)
        try database.execute(sql: SchemaOfAttachments.unknownLosses)
        try database.execute(sql: SchemaOfAttachments.firstSweeps)
        try database.execute(sql: SchemaOfAttachments.leases)
        try addMembersOfWaitingNotes(database)
    }

    @Sendable private static func addAddresses(_ database: Database) throws {
        try database.execute(sql: SchemaOfDevices.lastUseAddress)
    }

    @Sendable private static func addRevocations(_ database: Database) throws {
        try database.execute(sql: SchemaOfDevices.revocations)
    }

    @Sendable private static func addTickets(_ database: Database) throws {
        try database.execute(sql: SchemaOfTickets.tables)
    }

    @Sendable private static func addVerifications(_ database: Database) throws {
        try database.execute(sql: SchemaOfAccounts.emailVerificationDate)
    }

    @Sendable private static func addDescent(_ database: Database) throws {
        try database.execute(sql: SchemaOfTexts.descent)
    }

    @Sendable private static func addChecksums(_ database: Database) throws {
        try database.execute(sql: SchemaOfTexts.checksums)
        let page = try PreparedStatement(
            "SELECT \(ParcelChecksum.columnsOfVersion8), number FROM edits WHERE number > ?1 ORDER BY number LIMIT 500",
            on: database)
        let update = try PreparedStatement("UPDATE edits SET checksum = ?2 WHERE number = ?1", on: database)
        var last = Int64.min
        while true {
            page.bind(last)
            let sums = try page.all { (number: page.integer(16), checksum: page.parcelChecksum()) }
            guard let end = sums.last?.number else { return }
            for sum in sums {
                update.bind(sum.number, sum.checksum)
                try update.run()
            }
            last = end
        }
    }

    @Sendable private static func addBlobStore(_ database: Database) throws {
        try database.execute(sql: SchemaOfAttachments.blobStore)
    }

    @Sendable private static func addQuotas(_ database: Database) throws {
        try database.execute(sql: SchemaOfQuotas.columns)
        var bytes: [Int64: Int64] = [:]
        let parcels = try PreparedStatement(SchemaOfQuotas.parcels, on: database)
        try parcels.eachRow { bytes[parcels.integer(0), default: 0] += parcels.integer(1) }
        let update = try PreparedStatement("UPDATE scopes SET parcel_bytes = ?2 WHERE id = ?1", on: database)
        for (scope, bytes) in bytes {
            update.bind(scope, bytes)
            try update.run()
        }
    }

    @Sendable private static func addIdempotencyKeys(_ database: Database) throws {
        try database.execute(sql: SchemaOfIdempotencyKeys.tables)
    }

    @Sendable private static func addTokens(_ database: Database) throws {
        try database.execute(sql: SchemaOfDevices.tokens)
    }

    @Sendable private static func addTextNames(_ database: Database) throws {
        try database.execute(sql: SchemaOfTexts.names)
    }

    @Sendable private static func addImports(_ database: Database) throws {
        try database.execute(sql: SchemaOfImports.tables)
    }

    @Sendable private static func addWebhooks(_ database: Database) throws {
        try database.execute(sql: SchemaOfWebhooks.tables)
    }

    /// Inserts into `members` the tags and attachments of incomplete notes. A note does not exist while it lacks a required field.
    /// Version 1 did not insert the tags and attachments of such notes.
    private static func addMembersOfWaitingNotes(_ database: Database) throws {
        let waiting = try PreparedStatement(
            "SELECT scope, id, body FROM objects WHERE sequence IS NULL AND section = 0", on: database)
        let insert = try PreparedStatement(PushStatements.insertMember, on: database)
        try waiting.eachRow {
            let id = try waiting.id(1)
            for member in try Entity.read(waiting.bytes(2), id: id, section: .notes).heldMembers {
                insert.bind(waiting.integer(0), member, id)
                try insert.run()
            }
        }
    }
}
