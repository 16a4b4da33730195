import HesperModel
import HesperSQL
import HesperStore

/// One consistent moment of the database: a connection inside a transaction. What it answers is in one file per noun.
class PostgresSnapshot: SQLSnapshot {
    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// For statements that all SQL databases share.
    var sql: PostgresSQL { PostgresSQL(connection: connection) }

    /// A snapshot holds nobody up.
    func rowLock(on table: String) -> String { "" }

    /// In one statement for all: whoever listens on this server is looked after every few seconds.
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

    /// Bytes of bodies in one answer.
    private static let answerBytes = 16 << 20

    /// The states of all of them that are known, in one question unless they are large.
    /// - Parameter count: told of each body, as it is read, how many bytes it has.
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

    /// Gives the states of those that are known, the first of them and as many as fill an answer.
    /// - Returns: those that it had no more room for.
    func someStates(
        of ids: [UniqueID], in scope: ScopeID, _ body: (UniqueID, ObjectState, Int) throws -> Void
    ) throws -> [UniqueID] {
        guard let first = ids.first else { return [] }
        var limit = PostgresSnapshot.answerBytes
        while true {
            let answer = try connection.answer(PushStatements.states, [.scope(scope), .uuidArray(ids), .int(limit)])
            let left = try PostgresSnapshot.read(answer, body)
            guard left.contains(first) else { return left }
            // Its body alone is larger than all of an answer.
            limit *= 2
        }
    }

    /// Gives what an answer to ``PushStatements/states`` has, with the bytes of each body.
    /// - Returns: the objects whose bodies it lacks, as they are past the limit.
    static func read(_ answer: Answer, _ body: (UniqueID, ObjectState, Int) throws -> Void) throws -> [UniqueID] {
        var (left, last): ([UniqueID], UniqueID?) = ([], nil)
        for index in 0..<answer.rowCount {
            try answer.row(index) { row in
                let id = try row.id(0)
                // Objects come first: were one also deleted, the object would stand.
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
    /// From the columns `id, sequence, section, body, type, merged_into, deletion_date`: no section where it is deleted.
    /// - Returns: nil, if the body is left out.
    func state(of id: UniqueID) throws -> ObjectState? {
        guard !isNull(2) else { return .deleted(try deletedObject(id: id, from: 4), sequence: integer(1)) }
        guard !isNull(3) else { return nil }
        return .entity(try Entity.read(bytes(3), id: id, section: try section(2)), sequence: integerIfAny(1))
    }
}
