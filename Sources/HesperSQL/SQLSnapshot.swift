import HesperModel
import HesperStore

/// A snapshot of an SQL database. This module contains the statements that all databases share. Each database has its own
/// statements for pushes, feeds and searches.
public protocol SQLSnapshot: Snapshot {
    associatedtype SQL: SQLConnection

    var sql: SQL { get }
    /// Returns the clause that locks the rows of a SELECT until the end of the transaction. It is empty in a snapshot, and for a
    /// database that allows only one writer.
    /// - Parameter table: the name or alias of the table in the statement.
    func rowLock(on table: String) -> String
    /// The entries of a scope's notes in the search index, ordered by ID, for a consistency check.
    func inspectedDocuments(of scope: ScopeID) throws -> InspectedRows<InspectedDocument>
}

/// A write transaction of an SQL database.
public protocol SQLTransaction: SQLSnapshot, Transaction {
    /// Locks the row of a scope until the end of the transaction, if the database has row locks.
    /// - Returns: false if it is certain that the scope does not exist.
    func lockRow(of scope: ScopeID) throws -> Bool
    /// Locks the row of a scope before all rows of the scope are deleted.
    /// - Returns: false if it is certain that the scope does not exist.
    func lockForErasure(of scope: ScopeID) throws -> Bool
    /// Deletes those rows of a scope that are not deleted automatically when the scope's row in the table `scopes` is deleted.
    func eraseRows(of scope: ScopeID) throws
    /// Updates the transaction's cached row of the scope, if there is one, to show that the scope has a revocation.
    func recordRevocation(in scope: ScopeID)
    /// For each of these attachments, updates the date since which no object has had the attachment, and schedules a sweep of the
    /// attachment.
    func updateUnheldDates(of attachments: [UniqueID], in scope: ScopeID, at date: Timestamp) throws
}

// Default implementations for a database that allows only one writer.

extension SQLSnapshot {
    public func rowLock(on table: String) -> String { "" }
}

extension SQLTransaction {
    public func lockRow(of scope: ScopeID) throws -> Bool { true }
    public func lockForErasure(of scope: ScopeID) throws -> Bool { try lockRow(of: scope) }
    public func recordRevocation(in scope: ScopeID) {}
}

extension SQLTransaction {
    /// Locks the row of a scope. The scope must exist.
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
        // An empty table `installation` may mean that the database is the target of an unfinished move.
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
