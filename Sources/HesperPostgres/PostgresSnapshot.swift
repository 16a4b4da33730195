import HesperModel
import HesperSQL
import HesperStore

/// A consistent snapshot of the database: a connection in a transaction. Its methods are in extensions, one file for each
/// subject.
class PostgresSnapshot: SQLSnapshot {
    final let directConnection: Connection
    /// The connection on which all statements run.
    var connection: Connection { directConnection }

    init(_ connection: Connection) { directConnection = connection }

    /// Runs the statements that SQLite and PostgreSQL share.
    var sql: PostgresSQL { PostgresSQL(connection: connection) }

    /// An empty string, because a snapshot locks no rows.
    func rowLock(on table: String) -> String { "" }

    /// Reads the status of all given scopes in one statement. Every few seconds, a server calls this method for all scopes to which
    /// clients listen.
    func scopeStatuses(of scopes: [ScopeID]) throws -> [ScopeID: ScopeStatus] {
        var standings: [ScopeID: ScopeStatus] = [:]
        try connection.query(PostgresSnapshot.standings, [.int8Array(scopes.map(\.rawValue))]) { row in
            var standing = standings[row.scope(0)] ?? ScopeStatus(sequence: row.integer(1), devices: [])
            if let node = row.nodeIfAny(2) { standing.devices.insert(node) }
            standings[row.scope(0)] = standing
            return true
        }
        return standings
    }

    private static let standings = """
        SELECT s.id, s.sequence, d.node FROM scopes s LEFT JOIN memberships m ON m.scope = s.id
            LEFT JOIN accounts a ON a.id = m.account AND a.disabled_since IS NULL
            LEFT JOIN devices d ON d.account = a.id
        WHERE s.id = ANY ($1)
        """

    func state(of id: UniqueID, in scope: ScopeID) throws -> ObjectState? { try states(of: [id], in: scope)[id] }

    /// The maximum total size of the bodies in one result, in bytes.
    private static let resultBytes = 16 << 20

    /// Returns the states of the objects that exist. The states are read in one query, or in several queries if the bodies are
    /// large.
    /// - Parameter count: a function that is called with the size of each body in bytes when the body is read.
    func states(
        of ids: [UniqueID], in scope: ScopeID, counting count: (Int) throws -> Void = { _ in }
    ) throws -> [UniqueID: ObjectState] {
        var (states, left): ([UniqueID: ObjectState], [UniqueID]) = ([:], ids)
        while !left.isEmpty {
            left = try someStates(of: left, in: scope) { id, state, bytes in
                try count(bytes)
                states[id] = state
            }
        }
        return states
    }

    /// Passes to `body` the states of the objects that exist and whose bodies fit in one result.
    /// - Parameter body: a function that receives the ID, the state and the size of the body in bytes.
    /// - Returns: the IDs of the objects whose bodies did not fit in the result.
    func someStates(
        of ids: [UniqueID], in scope: ScopeID, _ body: (UniqueID, ObjectState, Int) throws -> Void
    ) throws -> [UniqueID] {
        guard let first = ids.first else { return [] }
        var limit = PostgresSnapshot.resultBytes
        while true {
            let scopes = Array(repeating: scope.rawValue, count: ids.count)
            let result = try connection.result(
                PushStatements.states, [.int8Array(scopes), .uuidArray(ids), .int(limit)])
            let left = try PostgresSnapshot.read(result) { try body($1, $2, $3) }.map(\.id)
            guard left.contains(first) else { return left }
            // The body of the first object alone exceeds the limit, so run the query again with a higher limit.
            limit *= 2
        }
    }

    /// Calls `body` for each object in a result of ``PushStatements/states`` with its scope, its ID, its state and the size of its
    /// body in bytes.
    /// - Returns: the objects whose bodies the statement omitted because the result would be too large.
    static func read(
        _ result: QueryResult, _ body: (ScopeID, UniqueID, ObjectState, Int) throws -> Void
    ) throws -> [(scope: ScopeID, id: UniqueID)] {
        var (left, last): ([(scope: ScopeID, id: UniqueID)], (ScopeID, UniqueID)?) = ([], nil)
        for index in 0..<result.rowCount {
            try result.row(index) { row in
                let (scope, id) = (row.scope(7), try row.id(0))
                // If a damaged database has both an object and a DeletedObject with this ID, the object comes first and is used.
                if let last, last == (scope, id) { return }
                last = (scope, id)
                if let state = try row.state(of: id) {
                    try body(scope, id, state, row.isNull(3) ? 0 : row.bytes(3).count)
                } else {
                    left.append((scope, id))
                }
            }
        }
        return left
    }

    func tag(named foldedName: String, in scope: ScopeID) throws -> UniqueID? {
        try connection.first(MergeStatements.tagNamed, [.scope(scope), .bytes(Array(foldedName.utf8))]) { try $0.id(0) }
    }

    func indexedSequence(of scope: ScopeID) throws -> Int64 {
        try connection.first("SELECT indexed_sequence FROM indexing WHERE scope = $1", [.scope(scope)]) {
            $0.integer(0)
        } ?? 0
    }
}

extension Row {
    /// Reads the state of an object from a row with the columns `id, sequence, section, body, type, merged_into, deletion_date`.
    /// `section` is null if it is the row of a DeletedObject.
    /// - Returns: nil if the statement omitted the body because the result would be too large.
    func state(of id: UniqueID) throws -> ObjectState? {
        guard !isNull(2) else { return .deleted(try deletedObject(id: id, from: 4), sequence: integer(1)) }
        guard !isNull(3) else { return nil }
        return .entity(try Entity.read(bytes(3), id: id, section: try section(2)), sequence: integerIfAny(1))
    }
}
