import Foundation
import GRDB
import HesperModel
import HesperStore

/// Makes a new database of all that can be read of a damaged one.
///
/// Rows are found page by page (``SQLitePages``), also those whose pages no other page leads to any more. What is kept only to
/// find other rows is made again from these.
public struct SQLiteSalvage: Sendable {
    private let damaged: String
    private let new: String
    /// The hash of a password that nobody has.
    private let passwordHash: String
    private let date: Timestamp

    /// An object that is found nowhere: how many of one account are named.
    private static let namedObjects = 20
    /// The domain of addresses that are made up (RFC 2606).
    private static let domain = "salvage.invalid"

    /// - Parameters:
    ///   - damaged: the path of a file that ``SQLiteStore/copy(to:)`` made; it is not changed.
    ///   - new: the path of the new database, where nothing is yet.
    ///   - passwordHash: for accounts whose own hash is lost.
    ///   - date: when rows that are made again were made.
    public init(of damaged: String, to new: String, passwordHash: String, at date: Timestamp) {
        (self.damaged, self.new, self.passwordHash, self.date) = (damaged, new, passwordHash, date)
    }

    /// - Returns: what is lost, in sentences for an operator.
    /// - Throws: ``StoreError``: `newerDatabase` if a later Hesper has written it; what the new file cannot hold.
    public func run() throws -> [String] {
        let pages = try SQLitePages(path: damaged)
        // Version 0 is that of a header which is zeroed.
        let version = pages.userVersion.flatMap { $0 > 0 ? $0 : nil } ?? Migrations.version
        guard version <= Migrations.version else {
            throw StoreError.newerDatabase(version: version, known: Migrations.version)
        }
        return try namingErrors {
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            let queue = try DatabaseQueue(path: new, configuration: configuration)
            let report = try queue.inDatabase { database in
                // Until it is complete, the file is of no use: it needs no journal.
                try database.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
                // The rows have the columns of the version that wrote them.
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

    /// What is known of trees that have no row IDs.
    private struct Links {
        /// The number of a tree's first page, by the tree's name.
        var roots: [String: Int] = [:]
        /// The greatest number that a scope ever had, as far as it is known.
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

    /// From the table and from its index: each has all of them. Without the schema only the rows of the index can be told from
    /// all others.
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

    // MARK: What is made again

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
                report.append("\(email): parts of the history are lost, of objects: \(rebuild.incomplete.count).")
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

    /// Gives every scope an account: if its row is lost, the address is read from an index, else one is made up. Gives every
    /// account a scope.
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
        let homeless = try Row.fetchAll(
            database, sql: "SELECT id, email FROM accounts WHERE id NOT IN (SELECT account FROM memberships)")
        for account in homeless {
            let (id, email): (Data, String) = (account[0], account[1])
            try database.execute(sql: "INSERT INTO scopes (digest) VALUES (zeroblob(16))")
            try database.execute(
                sql: "INSERT INTO memberships (account, scope) VALUES (?, ?)",
                arguments: [id, database.lastInsertedRowID])
            report.append("\(email): which objects are this account's could not be read. It is empty.")
        }
        return report
    }

    /// The addresses of accounts, from the two indexes that SQLite keeps for the table's keys.
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

    /// The objects of each scope that an index names.
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

    private func missing(_ ids: Set<UniqueID>, _ scope: Int64, _ database: Database) throws -> [UniqueID] {
        let find = try Prepared(
            """
            SELECT 1 FROM objects WHERE scope = ?1 AND id = ?2 UNION ALL
            SELECT 1 FROM tombstones WHERE scope = ?1 AND id = ?2
            """, on: database)
        find.bind(1, scope)
        return try ids.sorted().filter { id in
            find.bind(2, id)
            return try find.first { true } == nil
        }
    }
}
