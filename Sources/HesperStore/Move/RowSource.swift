/// A database whose rows go to another, at one moment and while nobody else writes to it. It belongs to the thread that
/// opened it, which waits for it.
public protocol RowSource: AnyObject {
    /// Nil while it is itself only partly filled.
    func installation() throws -> Installation?
    /// How many rows each scope has, in all tables of ``MovedTable/ofScopes``.
    func rowCounts() throws -> [ScopeID: Int]
    /// The greatest number that a scope ever had, erased ones too; 0 if there was none.
    func lastScope() throws -> Int64
    /// Gives the rows of a table one by one.
    /// - Parameter scopes: whose; nil for a table that belongs to the installation.
    func read(_ table: MovedTable, of scopes: [ScopeID]?, _ body: ([MovedValue]) throws -> Void) throws
}

/// A database that is filled with the rows of another. Until ``finish(_:lastScope:)`` no ``Store`` opens it.
public protocol RowTarget: RowSource {
    /// Makes it ready for the rows of an installation, if it is empty or has some of them already.
    /// - Throws: ``MoveRefusal``, having changed nothing.
    func begin(for installation: Installation) throws
    /// Those that are there, whole.
    func scopes() throws -> Set<ScopeID>
    /// Keeps all of what `body` writes, durably, or nothing.
    func transaction(_ body: () throws -> Void) throws
    /// Removes scopes with all that belongs to them.
    func remove(_ scopes: [ScopeID]) throws
    /// - Parameter rows: gives its rows to what it is given.
    func insert(into table: MovedTable, _ rows: (_ append: ([MovedValue]) throws -> Void) throws -> Void) throws
    /// Makes what the database keeps of scopes beside the rows that came.
    func complete(_ scopes: [ScopeID]) throws
    /// Lets stores open it.
    func finish(_ installation: Installation, lastScope: Int64) throws
}

/// The mark of a database that is only partly filled: a lease of this name whose holder is the epoch of what moves there,
/// and no row in `installation`. So older versions do not serve it either.
public enum MoveMarker {
    public static let lease = "moving"
}

/// Why an installation can not be moved.
public enum MoveRefusal: Error, Sendable, Equatable {
    /// Another process has the database open.
    case inUse
    /// The source is only partly filled itself.
    case sourceIsUnfinished
    /// The target has this very installation, whole.
    case alreadyMoved
    /// The target has accounts, or was begun to be filled from elsewhere.
    case targetNotEmpty
    /// What was read back from the target is not what was sent.
    case differs(table: String, scopes: ClosedRange<ScopeID>?)
}
