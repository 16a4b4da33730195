import HesperModel
import HesperStore

/// A snapshot of a SQL database. This module has the statements that are the same for all of them, a store those that are
/// not: of pushes, feeds and search.
public protocol SQLSnapshot: Snapshot {
    associatedtype SQL: SQLConnection

    var sql: SQL { get }
    /// What ends a SELECT of rows that stay as they are until the transaction ends: nothing in a snapshot, nor in a database
    /// with one writer.
    /// - Parameter table: the table's name in the statement.
    func rowLock(on table: String) -> String
    /// What the index of terms has of the notes of a scope, by ID, for a check.
    func inspectedDocuments(of scope: ScopeID) throws -> InspectedRows<InspectedDocument>
}

/// A transaction of a SQL database.
public protocol SQLTransaction: SQLSnapshot, Transaction {
    /// Locks the row of a scope until the transaction ends, where rows are locked.
    /// - Returns: false if there is known to be no such scope.
    func lockRow(of scope: ScopeID) throws -> Bool
    /// The same before all rows of the scope are removed.
    func lockForErasure(of scope: ScopeID) throws -> Bool
    /// Removes the rows of a scope that would not go with its row in `scopes`, which is removed next.
    func eraseRows(of scope: ScopeID) throws
    /// Notes that the scope has a revocation, where the transaction keeps the scope's row in memory.
    func recordRevocation(in scope: ScopeID)
    /// Keeps up since when no note has held each of these attachments, and has the sweeper look at them.
    func updateUnheldDates(of attachments: [UniqueID], in scope: ScopeID, at date: Timestamp) throws
}

// What a database with one writer at a time need not do.

extension SQLSnapshot {
    public func rowLock(on table: String) -> String { "" }
}

extension SQLTransaction {
    public func lockRow(of scope: ScopeID) throws -> Bool { true }
    public func lockForErasure(of scope: ScopeID) throws -> Bool { try lockRow(of: scope) }
    public func recordRevocation(in scope: ScopeID) {}
}

extension SQLTransaction {
    /// Locks the row of a scope that must be there.
    func holdKnown(_ scope: ScopeID) throws {
        guard try lockRow(of: scope) else { throw StoreError.failed("scope \(scope.rawValue) is gone") }
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
        // A move marks a database that it has not filled yet.
        let isUnfinished = try sql.first("SELECT 1 FROM leases WHERE name = $1", [.text(MoveMarker.leaseName)]) { _ in true }
        throw isUnfinished == true ? StoreError.unfinished : .damaged("the table installation is empty")
    }

    public func head(of scope: ScopeID) throws -> ScopeHead? {
        try sql.first("SELECT sequence, digest FROM scopes WHERE id = $1", [.scope(scope)]) { row in
            ScopeHead(scope: scope, sequence: row.integer(0), digest: try row.digest(1))
        }
    }
}
