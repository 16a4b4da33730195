/// A database from which rows are moved. All reads see the same state, and no other process can write meanwhile. An instance must
/// be used only on the thread that opened it.
public protocol RowSource: AnyObject {
    /// The identity of the installation; nil if the database is itself the target of an unfinished move.
    func installation() throws -> Installation?
    /// The number of rows that each scope has in all tables of ``MovedTable/ofScopes`` together.
    func rowCounts() throws -> [ScopeID: Int]
    /// The greatest ID that any scope has or had, including deleted scopes; 0 if there never was a scope.
    func lastScope() throws -> Int64
    /// Calls `body` with each row of a table.
    /// - Parameter scopes: the scopes whose rows are read; nil for a table whose rows belong to the whole installation.
    func read(_ table: MovedTable, of scopes: [ScopeID]?, _ body: ([MovedValue]) throws -> Void) throws
}

/// A database to which rows are moved. No ``Store`` can open it until ``finish(_:lastScope:)`` has been called.
public protocol RowTarget: RowSource {
    /// Prepares the database for the rows of an installation. The database must be empty or contain an unfinished move of the
    /// same installation.
    /// - Throws: ``MoveRefusal`` if the database cannot receive the installation. In that case, nothing has been changed.
    func begin(for installation: Installation) throws
    /// The scopes whose rows have all been moved.
    func scopes() throws -> Set<ScopeID>
    /// Runs `body` in a transaction, which is durable when this returns.
    func transaction(_ body: () throws -> Void) throws
    /// Removes scopes, with all of their rows.
    func remove(_ scopes: [ScopeID]) throws
    /// Inserts rows into a table.
    /// - Parameter rows: a function that must call `append` with each row.
    func insert(into table: MovedTable, _ rows: (_ append: ([MovedValue]) throws -> Void) throws -> Void) throws
    /// Derives the remaining data of these scopes, such as the state of the term index, from the moved rows.
    func complete(_ scopes: [ScopeID]) throws
    /// Ends the move, so that a ``Store`` can open the database.
    func finish(_ installation: Installation, lastScope: Int64) throws
}

/// The mark of a database that is the target of an unfinished move. The mark is a lease with the name ``leaseName``. Its holder is
/// the epoch of the installation that is being moved. The table `installation` remains empty until the move is finished, so that
/// versions of Hesper that do not know this mark cannot open the database either.
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
    /// Rows that were read back from the target differ from the rows that were written.
    case differs(table: String, scopes: ClosedRange<ScopeID>?)
}
