import HesperModel
import HesperSQL
import HesperStore

/// A consistent snapshot of the database: a connection in a transaction. Its reads are in one file per subject.
class PostgresSnapshot: SQLSnapshot {
    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// Runs statements that are common to all SQL databases.
    var sql: PostgresSQL { PostgresSQL(connection: connection) }

    /// A snapshot takes no row locks.
    func rowLock(on table: String) -> String { "" }

    /// Reads all scopes in one statement: a server checks all its listeners every few seconds.
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

    /// The maximum number of bytes of bodies in one result.
    private static let resultBytes = 16 << 20

    /// Returns the states of those objects that exist, in one query unless they are large.
    /// - Parameter count: called with the number of bytes of each body as it is read.
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

    /// Passes the states of those objects that exist to `body`, as many as fit one result.
    /// - Returns: the IDs of objects that did not fit.
    func someStates(
        of ids: [UniqueID], in scope: ScopeID, _ body: (UniqueID, ObjectState, Int) throws -> Void
    ) throws -> [UniqueID] {
        guard let first = ids.first else { return [] }
        var limit = PostgresSnapshot.resultBytes
        while true {
            let result = try connection.result(PushStatements.states, [.scope(scope), .uuidArray(ids), .int(limit)])
            let left = try PostgresSnapshot.read(result, body)
            guard left.contains(first) else { return left }
            // The body of the first object alone exceeds the limit.
            limit *= 2
        }
    }

    /// Passes each object in a result of ``PushStatements/states`` to `body`, with the size of its body in bytes.
    /// - Returns: the objects whose bodies were omitted because they exceed the limit.
    static func read(_ result: QueryResult, _ body: (UniqueID, ObjectState, Int) throws -> Void) throws -> [UniqueID] {
        var (left, last): ([UniqueID], UniqueID?) = ([], nil)
        for index in 0..<result.rowCount {
            try result.row(index) { row in
                let id = try row.id(0)
                // Objects come before DeletedObjects: an ID that had both would be the object.
                guard id != last else { return }
                last = id
                if let state = try row.state(of: id) {
                    try body(id, state, row.isNull(3) ? 0 : row.bytes(3).count)
                } else {
                    left.append(id)
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
    /// Reads the columns `id, sequence, section, body, type, merged_into, deletion_date`; `section` is null for DeletedObjects.
    /// - Returns: nil if the body was omitted.
    func state(of id: UniqueID) throws -> ObjectState? {
        guard !isNull(2) else { return .deleted(try deletedObject(id: id, from: 4), sequence: integer(1)) }
        guard !isNull(3) else { return nil }
        return .entity(try Entity.read(bytes(3), id: id, section: try section(2)), sequence: integerIfAny(1))
    }
}
