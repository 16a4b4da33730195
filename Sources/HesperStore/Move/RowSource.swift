/// A database whose rows are moved to another one. All reads see the same state, and no other process can write meanwhile. It
/// must be used only on the thread that opened it.
public protocol RowSource: AnyObject {
    /// Nil if the database is itself the target of an unfinished move.
    func installation() throws -> Installation?
    /// The number of rows of each scope, in all tables of ``MovedTable/ofScopes``.
    func rowCounts() throws -> [ScopeID: Int]
    /// The greatest ID that a scope ever had, including deleted scopes; 0 if there never was one.
    func lastScope() throws -> Int64
    /// Calls `body` with each row of a table.
    /// - Parameter scopes: the scopes whose rows are read; nil for a table that belongs to the installation.
    func read(_ table: MovedTable, of scopes: [ScopeID]?, _ body: ([MovedValue]) throws -> Void) throws
}

/// A database that receives the rows of another one. No ``Store`` can open it until ``finish(_:lastScope:)``.
public protocol RowTarget: RowSource {
    /// Prepares the database for the rows of an installation. It must be empty or contain an unfinished move of the same
    /// installation.
    /// - Throws: ``MoveRefusal``. Nothing has been changed then.
    func begin(for installation: Installation) throws
    /// The scopes that have been moved completely.
    func scopes() throws -> Set<ScopeID>
    /// Runs `body` in a durable transaction.
    func transaction(_ body: () throws -> Void) throws
    /// Removes scopes with all of their rows.
    func remove(_ scopes: [ScopeID]) throws
    /// Inserts rows into a table.
    /// - Parameter rows: calls `append` with each row.
    func insert(into table: MovedTable, _ rows: (_ append: ([MovedValue]) throws -> Void) throws -> Void) throws
    /// Sets the values and rows of these scopes that the database derives from the moved rows.
    func complete(_ scopes: [ScopeID]) throws
    /// Ends the move, so that stores can open the database.
    func finish(_ installation: Installation, lastScope: Int64) throws
}

/// Identifies a database with an unfinished move. It has a lease of this name, whose holder is the epoch of the moved
/// installation, and no row in `installation`, so that older versions do not open it either.
public enum MoveMarker {
    public static let leaseName = "moving"
}

/// A reason why an installation cannot be moved.
public enum MoveRefusal: Error, Sendable, Equatable {
    /// Another process has the database open.
    case inUse
    /// The source is itself the target of an unfinished move.
    case sourceIsUnfinished
    /// The target already contains the complete installation.
    case alreadyMoved
    /// The target has accounts, or contains an unfinished move of another installation.
    case targetNotEmpty
    /// Rows read back from the target differ from those that were written.
    case differs(table: String, scopes: ClosedRange<ScopeID>?)
}
