import HesperModel
import HesperStore

/// A snapshot of a SQL database. This module contains the statements that all databases share. Each database has its own
/// statements for pushes, feeds and searches.
public protocol SQLSnapshot: Snapshot {
    associatedtype SQL: SQLConnection

    var sql: SQL { get }
    /// The clause that locks the rows of a SELECT until the end of the transaction. It is empty in a snapshot and for a
    /// database with a single writer.
    /// - Parameter table: the table's name or alias in the statement.
    func rowLock(on table: String) -> String
    /// The entries of a scope's notes in the term index, ordered by ID, for a check.
    func inspectedDocuments(of scope: ScopeID) throws -> InspectedRows<InspectedDocument>
}

/// A transaction of a SQL database.
public protocol SQLTransaction: SQLSnapshot, Transaction {
    /// Locks the row of a scope until the end of the transaction, if the database locks rows.
    /// - Returns: false if the scope is known not to exist.
    func lockRow(of scope: ScopeID) throws -> Bool
    /// Locks the row of a scope before all of its rows are deleted.
    /// - Returns: false if the scope is known not to exist.
    func lockForErasure(of scope: ScopeID) throws -> Bool
    /// Deletes the rows of a scope that are not deleted by a cascade when its row in `scopes` is deleted afterwards.
    func eraseRows(of scope: ScopeID) throws
    /// Records that the scope has a revocation, if the transaction caches the scope's row.
    func recordRevocation(in scope: ScopeID)
    /// Updates the dates since which no note has held these attachments, and schedules their sweep.
    func updateUnheldDates(of attachments: [UniqueID], in scope: ScopeID, at date: Timestamp) throws
}

// Defaults for a database with a single writer.

extension SQLSnapshot {
    public func rowLock(on table: String) -> String { "" }
}

extension SQLTransaction {
    public func lockRow(of scope: ScopeID) throws -> Bool { true }
    public func lockForErasure(of scope: ScopeID) throws -> Bool { try lockRow(of: scope) }
    public func recordRevocation(in scope: ScopeID) {}
}

extension SQLTransaction {
    /// Locks the row of a scope, which must exist.
    func lockExisting(_ scope: ScopeID) throws {
        guard try lockRow(of: scope) else { throw StoreError.failed("scope \(scope.rawValue) does not exist") }
    }
}

extension SQLSnapshot {
    public func installation() throws -> Installation {
        let installation = try sql.first(
            "SELECT epoch, node FROM installation WHERE \(sql.dialect.isTrue("one"))", []
        ) { row in
            Installation(epoch: UInt64(bitPattern: row.integer(0)), node: try row.node(1))
        }
        if let installation { return installation }
        // The database may be the target of an unfinished move.
        let isUnfinished = try sql.first("SELECT 1 FROM leases WHERE name = $1", [.text(MoveMarker.leaseName)]) { _ in
            true
        }
        throw isUnfinished == true ? StoreError.unfinished : .damaged("the table installation is empty")
    }

    public func head(of scope: ScopeID) throws -> ScopeHead? {
        try sql.first("SELECT sequence, digest FROM scopes WHERE id = $1", [.scope(scope)]) { row in
            ScopeHead(scope: scope, sequence: row.integer(0), digest: try row.digest(1))
        }
    }
}
