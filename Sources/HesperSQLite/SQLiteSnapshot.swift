import GRDB
import HesperModel
import HesperSQL
import HesperStore

/// A consistent snapshot of the database: a connection in a transaction. Its methods are in extensions, one file for each
/// subject.
class SQLiteSnapshot: SQLSnapshot {
    let database: Database

    init(_ database: Database) { self.database = database }

    /// Runs the statements that SQLite and PostgreSQL share.
    var sql: SQLiteSQL { SQLiteSQL(snapshot: self) }

    /// Prepares a statement, or returns it from the cache of the connection.
    func prepare(_ sql: String) throws -> PreparedStatement { try PreparedStatement(sql, on: database) }

    func scopeStatuses(of scopes: [ScopeID]) throws -> [ScopeID: ScopeStatus] {
        var standings: [ScopeID: ScopeStatus] = [:]
        for scope in scopes {
            let rows = try sql.all(
                """
                SELECT s.sequence, d.node FROM scopes s LEFT JOIN memberships m ON m.scope = s.id
                    LEFT JOIN accounts a ON a.id = m.account AND a.disabled_since IS NULL
                    LEFT JOIN devices d ON d.account = a.id
                WHERE s.id = $1
                """, [.scope(scope)]
            ) { (sequence: $0.integer(0), node: $0.nodeIfAny(1)) }
            standings[scope] = rows.first.map {
                ScopeStatus(sequence: $0.sequence, devices: Set(rows.compactMap(\.node)))
            }
        }
        return standings
    }

    func state(of id: UniqueID, in scope: ScopeID) throws -> ObjectState? {
        try StateReader(self, scope: scope).state(of: id)
    }

    func tag(named foldedName: String, in scope: ScopeID) throws -> UniqueID? {
        let row = try prepare(MergeStatements.tagNamed)
        row.bind(scope, foldedName)
        return try row.first { try row.id(0) }
    }

    func indexedSequence(of scope: ScopeID) throws -> Int64 {
        try sql.first("SELECT indexed_sequence FROM scopes WHERE id = $1", [.scope(scope)]) { $0.integer(0) } ?? 0
    }
}

/// Reads the states of objects of one scope.
struct StateReader {
    private let scope: ScopeID
    private let object: PreparedStatement
    private let tombstone: PreparedStatement

    init(_ snapshot: SQLiteSnapshot, scope: ScopeID) throws {
        self.scope = scope
        object = try snapshot.prepare(PushStatements.object)
        tombstone = try snapshot.prepare(PushStatements.tombstone)
    }

    /// Reads the state of an object; nil if neither the object nor a DeletedObject exists.
    /// - Parameter count: a function that is called with the size of the body in bytes before the body is decoded.
    func state(of id: UniqueID, counting count: (Int) throws -> Void = { _ in }) throws -> ObjectState? {
        object.bind(scope, id)
        let live = try object.first {
            let body = object.bytes(2)
            try count(body.count)
            return ObjectState.entity(
                try Entity.read(body, id: id, section: try object.section(0)), sequence: object.integerIfAny(1))
        }
        if let live { return live }
        tombstone.bind(scope, id)
        return try tombstone.first {
            ObjectState.deleted(try tombstone.deletedObject(id: id), sequence: tombstone.integer(3))
        }
    }
}
