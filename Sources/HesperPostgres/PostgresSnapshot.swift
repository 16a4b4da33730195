import HesperModel
import HesperStore

/// One consistent moment of the database: a connection inside a transaction. What it answers is in one file per noun.
class PostgresSnapshot: Snapshot {
    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    func installation() throws -> Installation {
        let installation = try connection.first("SELECT epoch, node FROM installation") { row in
            Installation(epoch: UInt64(bitPattern: row.integer(0)), node: try row.node(1))
        }
        guard let installation else {
            let isUnfinished = try connection.first(
                "SELECT EXISTS (SELECT FROM leases WHERE name = $1)", [.text(MoveMark.lease)]
            ) { $0.bool(0) }
            throw isUnfinished == true ? StoreError.unfinished : .damaged("the table installation is empty")
        }
        return installation
    }

    func head(of scope: ScopeID) throws -> ScopeHead? {
        try connection.first("SELECT sequence, digest FROM scopes WHERE id = $1", [.scope(scope)]) { row in
            ScopeHead(scope: scope, sequence: row.integer(0), digest: try row.digest(1))
        }
    }

    /// In one statement for all: whoever listens on this server is looked after every few seconds.
    func standings(of scopes: [ScopeID]) throws -> [ScopeID: ScopeStanding] {
        var standings: [ScopeID: ScopeStanding] = [:]
        try connection.query(PostgresSnapshot.standings, [.int8Array(scopes.map(\.rawValue))]) { row in
            var standing = standings[row.scope(0)] ?? ScopeStanding(sequence: row.integer(1), devices: [])
            if let node = row.nodeIfAny(2) { standing.devices.insert(node) }
            standings[row.scope(0)] = standing
            return true
        }
        return standings
    }

    private static let standings = """
        SELECT s.id, s.sequence, d.node FROM scopes s LEFT JOIN memberships m ON m.scope = s.id
            LEFT JOIN devices d ON d.account = m.account
        WHERE s.id = ANY ($1)
        """

    func state(of id: UniqueID, in scope: ScopeID) throws -> ObjectState? { try states(of: [id], in: scope)[id] }

    /// The states of all of them that are known, in one question.
    func states(of ids: [UniqueID], in scope: ScopeID) throws -> [UniqueID: ObjectState] {
        guard !ids.isEmpty else { return [:] }
        return try PostgresSnapshot.states(
            in: connection.answer(PushStatements.states, [.scope(scope), .uuidArray(ids)]))
    }

    static func states(in answer: Answer) throws -> [UniqueID: ObjectState] {
        var states: [UniqueID: ObjectState] = [:]
        states.reserveCapacity(Int(answer.rowCount))
        for index in 0..<answer.rowCount {
            let (id, state) = try answer.row(index) { try $0.state() }
            // Objects come first: were one also deleted, the object would stand.
            if states[id] == nil { states[id] = state }
        }
        return states
    }

    func tag(named foldedName: String, in scope: ScopeID) throws -> UniqueID? {
        try connection.first(PushStatements.tagNamed, [.scope(scope), .bytes(Array(foldedName.utf8))]) { try $0.id(0) }
    }

    func indexedSequence(of scope: ScopeID) throws -> Int64 {
        try connection.first("SELECT indexed_sequence FROM indexing WHERE scope = $1", [.scope(scope)]) {
            $0.integer(0)
        } ?? 0
    }
}

extension Row {
    /// From the columns `id, sequence, section, body, type, merged_into, deletion_date`: no section where it is deleted.
    func state() throws -> (UniqueID, ObjectState) {
        let id = try id(0)
        guard !isNull(2) else {
            return (id, .deleted(try deletedObject(id: id, from: 4), sequence: integer(1)))
        }
        return (
            id, .entity(try Entity.read(bytes(3), id: id, section: try section(2)), sequence: integerIfAny(1))
        )
    }
}
