import Foundation
import GRDB
import HesperModel
import HesperStore

/// Builds a new database from the readable rows of a damaged one.
///
/// Rows are read page by page (``SQLitePages``), also from pages to which no other page refers because of the damage. Data that
/// can be computed from these rows, such as the search index, is computed again.
public struct SQLiteSalvage: Sendable {
    private let damaged: String
    private let new: String
    /// The hash of a random password. It is stored for accounts whose own password hash is lost.
    private let passwordHash: String
    private let date: Timestamp

    /// The maximum number of lost objects that the report names for each account.
    private static let namedObjects = 20
    /// The domain of the placeholder addresses of accounts whose e-mail address is lost (RFC 2606).
    private static let domain = "salvage.invalid"

    /// - Parameters:
    ///   - damaged: the path of the damaged file, which ``SQLiteStore/copy(to:)`` wrote. It is not changed.
    ///   - new: the path of the new database. No file may exist there.
    ///   - passwordHash: the hash of a random password. It is stored for accounts whose own password hash is lost.
    ///   - date: the current date, which is stored as the creation date of rows that are created again.
    public init(of damaged: String, to new: String, passwordHash: String, at date: Timestamp) {
        (self.damaged, self.new, self.passwordHash, self.date) = (damaged, new, passwordHash, date)
    }

    /// Creates the new database.
    /// - Returns: a report about lost data, as sentences for an operator.
    /// - Throws: ``StoreError``: `newerDatabase` if a later version of Hesper wrote the damaged file, or another error if the new
    ///   database cannot be written.
    public func run() throws -> [String] {
        let pages = try SQLitePages(path: damaged)
        // Version 0 means that the header was overwritten with zeros. Then assume the current version.
        let version = pages.userVersion.flatMap { $0 > 0 ? $0 : nil } ?? Migrations.version
        guard version <= Migrations.version else {
            throw StoreError.newerDatabase(version: version, known: Migrations.version)
        }
        return try mappingErrors {
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            let queue = try DatabaseQueue(path: new, configuration: configuration)
            let report = try queue.inDatabase { database in
                // No journal is needed, because after a crash the incomplete file is discarded.
                try database.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
                // The rows have the columns of the version that wrote them. So create the tables of that version, and migrate
                // them when the rows have been copied.
                try Migrations.run(on: database, to: version)
                let links = try copyRows(of: pages, into: database)
                try Migrations.run(on: database)
                return try SQLiteTransaction.run(on: database) { _ in
                    try rebuild(SQLiteTransaction(database), links, pages)
                }
            }
            try queue.close()
            return report
        }
    }

    // MARK: Rows

    /// Data about the B-trees and the scopes of the damaged file.
    private struct Links {
        /// The numbers of the root pages, by the names of the tables and indexes.
        var roots: [String: Int] = [:]
        /// The greatest scope number that was ever used; 0 if it could not be read.
        var lastScope: Int64 = 0
    }

    private func copyRows(of pages: SQLitePages, into database: Database) throws -> Links {
        var links = Links()
        try database.inTransaction {
            try database.execute(sql: "DELETE FROM installation")
            let tables = try SalvagedTable.withRowIDs(of: database)
            try pages.eachTableRow { rowID, values in
                if let table = tables.first(where: { $0.accepts(values) }) {
                    try table.insert(rowID, values, into: database)
                } else if values.count == 5, ["table", "index"].contains(values.text(0)), values.int(3) > 0 {
                    links.roots[values.text(1)] = values.int(3)
                } else if values.count == 2, values.text(0) == "scopes" {
                    links.lastScope = max(links.lastScope, Int64(values.int(1)))
                }
            }
            try database.execute(
                sql: "INSERT OR IGNORE INTO installation (one, epoch, node) VALUES (1, 1, ?)",
                arguments: [withUnsafeBytes(of: NodeID.random().rawValue.bigEndian) { Data($0) }])
            try copyMemberships(links, pages, into: database)
            if let root = links.roots["revocations"] {
                let revocations = try SalvagedTable.revocations(of: database)
                try pages.eachIndexRow(root: root) {
                    if revocations.accepts($0) { try revocations.insert(0, $0, into: database) }
                }
            }
            return .commit
        }
        return links
    }

    /// Copies memberships, which assign scopes to accounts. They are read from the table and from its index, which both contain
    /// all memberships. If the schema is lost, the root pages are unknown, and only the rows of this index can be distinguished
    /// from the rows of other B-trees.
    private func copyMemberships(_ links: Links, _ pages: SQLitePages, into database: Database) throws {
        let insert = try database.makeStatement(
            sql: "INSERT OR IGNORE INTO memberships (account, scope) VALUES (?, ?)")
        for (name, account, scope) in [("memberships", 0, 1), ("memberships_scope", 1, 0)] {
            let root = links.roots[name]
            guard root != nil || links.roots.isEmpty && name == "memberships_scope" else { continue }
            try pages.eachIndexRow(root: root) { values in
                guard values.count == 2, values.isBlob(account, of: 16), values.int(scope) > 0 else { return }
                try insert.execute(arguments: [values[account], values[scope]])
            }
        }
    }

    // MARK: Derived rows

    private func rebuild(_ transaction: SQLiteTransaction, _ links: Links, _ pages: SQLitePages) throws -> [String] {
        let database = transaction.database
        try database.execute(
            sql: """
                INSERT OR IGNORE INTO scopes (id, digest)
                    SELECT scope, zeroblob(16) FROM (
                        SELECT scope FROM objects UNION SELECT scope FROM edits UNION SELECT scope FROM tombstones
                        UNION SELECT scope FROM memberships);
                UPDATE scopes SET has_revocations = EXISTS (SELECT 1 FROM revocations r WHERE r.scope = scopes.id), sequence = max(sequence,
                    coalesce((SELECT max(sequence) FROM edits e WHERE e.scope = scopes.id), 0),
                    coalesce((SELECT max(sequence) FROM tombstones t WHERE t.scope = scopes.id), 0),
                    coalesce((SELECT max(sequence) FROM objects o WHERE o.scope = scopes.id), 0));
                """)
        try database.execute(
            sql: "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'scopes'", arguments: [links.lastScope])
        var report = try rebuildAccounts(links, pages, database)
        let emails = try Row.fetchAll(
            database, sql: "SELECT m.scope, a.email FROM memberships m JOIN accounts a ON a.id = m.account ORDER BY 1")
        let named = try lostObjects(links, pages)
        for row in emails {
            let (scope, email): (Int64, String) = (row[0], row[1])
            guard let locked = try transaction.lock(ScopeID(scope)) else { continue }
            var rebuild = try ScopeRebuild(transaction, locked, at: date)
            try rebuild.run()
            if !rebuild.incomplete.isEmpty {
                report.append(
                    "\(email): objects whose history is incomplete: \(rebuild.incomplete.count).")
            }
            let lost = try missing(named[scope] ?? [], scope, database)
            guard !lost.isEmpty else { continue }
            let list = lost.prefix(SQLiteSalvage.namedObjects).map(\.description).joined(separator: ", ")
            let more = lost.count > SQLiteSalvage.namedObjects ? ", and others" : ""
            report.append("\(email): objects that could not be read: \(lost.count) (\(list)\(more)).")
        }
        try database.execute(
            sql: SchemaOfAttachments.firstSweeps.replacing("INSERT INTO", with: "INSERT OR IGNORE INTO"))
        try database.execute(
            sql: "INSERT OR IGNORE INTO sweeps (scope, object, due_date) SELECT scope, attachment, 0 FROM blobs")
        return report
    }

    /// Creates the accounts of scopes whose account is lost, and the scopes of accounts whose scope is lost. The address of a
    /// created account is read from an index. If this address is lost too, the account gets a placeholder address.
    /// - Returns: sentences for the report.
    private func rebuildAccounts(
        _ links: Links, _ pages: SQLitePages, _ database: Database
    ) throws -> [String] {
        let orphans = try Row.fetchAll(
            database,
            sql: """
                SELECT s.id, m.account FROM scopes s LEFT JOIN memberships m ON m.scope = s.id
                WHERE m.account IS NULL OR m.account NOT IN (SELECT id FROM accounts)
                """)
        var report: [String] = []
        let keys = orphans.isEmpty ? [:] : try emailKeys(links, pages)
        for orphan in orphans {
            let (scope, known): (Int64, Data?) = (orphan[0], orphan[1])
            let id = known ?? Data(UniqueID.random().bytes)
            let found = keys[id].flatMap { Account.isEmail($0) ? $0 : nil }
            let email = found ?? "account-\(scope)@\(SQLiteSalvage.domain)"
            try database.execute(
                sql: """
                    INSERT INTO accounts (id, email, email_key, password_hash, creation_date) VALUES (?, ?, ?, ?, ?)
                    """,
                arguments: [id, email, Account.key(of: email), passwordHash, date.milliseconds])
            try database.execute(
                sql: "INSERT OR IGNORE INTO memberships (account, scope) VALUES (?, ?)", arguments: [id, scope])
            report.append("\(email): the account's row is lost. Set a password: hesper account reset-password \(email)")
        }
        let withoutScope = try Row.fetchAll(
            database, sql: "SELECT id, email FROM accounts WHERE id NOT IN (SELECT account FROM memberships)")
        for account in withoutScope {
            let (id, email): (Data, String) = (account[0], account[1])
            try database.execute(sql: "INSERT INTO scopes (digest) VALUES (zeroblob(16))")
            try database.execute(
                sql: "INSERT INTO memberships (account, scope) VALUES (?, ?)",
                arguments: [id, database.lastInsertedRowID])
            report.append("\(email): the objects of this account could not be identified. The account is empty.")
        }
        return report
    }

    /// The e-mail addresses by account ID. They are read from two indexes of the table `accounts`: the index of IDs and the index
    /// of addresses.
    private func emailKeys(_ links: Links, _ pages: SQLitePages) throws -> [Data: String] {
        var (keys, ids): ([Int: String], [Data: String]) = ([:], [:])
        if let root = links.roots["sqlite_autoindex_accounts_2"] {
            try pages.eachIndexRow(root: root) { if $0.count == 2 { keys[$0.int(1)] = $0.text(0) } }
        }
        if let root = links.roots["sqlite_autoindex_accounts_1"] {
            try pages.eachIndexRow(root: root) { values in
                if values.isBlob(0, of: 16), let key = keys[values.int(1)] { ids[Data(values.blob(0))] = key }
            }
        }
        return ids
    }

    /// The object IDs in the indexes, by scope. They include the IDs of objects whose rows are lost.
    private func lostObjects(_ links: Links, _ pages: SQLitePages) throws -> [Int64: Set<UniqueID>] {
        var named: [Int64: Set<UniqueID>] = [:]
        for root in ["objects_id", "edits_object", "tombstones_id"].compactMap({ links.roots[$0] }) {
            try pages.eachIndexRow(root: root) { values in
                guard values.count >= 3, let id = UniqueID(bytes: values.blob(1)) else { return }
                named[Int64(values.int(0)), default: []].insert(id)
            }
        }
        return named
    }

    /// The IDs among `ids` for which the new database contains neither an object nor a DeletedObject.
    private func missing(_ ids: Set<UniqueID>, _ scope: Int64, _ database: Database) throws -> [UniqueID] {
        let find = try PreparedStatement(
            """
            SELECT 1 FROM objects WHERE scope = ?1 AND id = ?2 UNION ALL
            SELECT 1 FROM tombstones WHERE scope = ?1 AND id = ?2
            """, on: database)
        return try ids.sorted().filter { id in
            find.bind(scope, id)
            return try find.first { true } == nil
        }
    }
}
