import GRDB
import HesperModel
import HesperStore

/// One consistent moment of the database: a connection inside a transaction. What it answers is in one file per noun.
class SQLiteSnapshot: Snapshot {
    let database: Database

    init(_ database: Database) { self.database = database }

    /// A cached statement, ready to be bound.
    func prepare(_ sql: String) throws -> Prepared { try Prepared(sql, on: database) }

    func installation() throws -> Installation {
        let row = try prepare("SELECT epoch, node FROM installation WHERE one = 1")
        let installation = try row.first {
            Installation(epoch: UInt64(bitPattern: row.integer(0)), node: try row.node(1))
        }
        guard let installation else {
            throw try isUnfinished() ? StoreError.unfinished : .damaged("the table installation is empty")
        }
        return installation
    }

    /// Whether it is a target that a move has not come to the end of.
    private func isUnfinished() throws -> Bool {
        let mark = try prepare("SELECT 1 FROM leases WHERE name = ?")
        mark.bind(1, MoveMark.lease)
        return try mark.first { true } ?? false
    }

    func head(of scope: ScopeID) throws -> ScopeHead? {
        let row = try prepare("SELECT sequence, digest FROM scopes WHERE id = ?")
        row.bind(1, scope)
        return try row.first { ScopeHead(scope: scope, sequence: row.integer(0), digest: try row.digest(1)) }
    }

    func standings(of scopes: [ScopeID]) throws -> [ScopeID: ScopeStanding] {
        let row = try prepare(
            """
            SELECT s.sequence, d.node FROM scopes s LEFT JOIN memberships m ON m.scope = s.id
                LEFT JOIN accounts a ON a.id = m.account AND a.disabled_since IS NULL
                LEFT JOIN devices d ON d.account = a.id
            WHERE s.id = ?
            """)
        var standings: [ScopeID: ScopeStanding] = [:]
        for scope in scopes {
            row.bind(1, scope)
            for (sequence, node) in try row.all({ (row.integer(0), row.nodeIfAny(1)) }) {
                var standing = standings[scope] ?? ScopeStanding(sequence: sequence, devices: [])
                if let node { standing.devices.insert(node) }
                standings[scope] = standing
            }
        }
        return standings
    }

    func state(of id: UniqueID, in scope: ScopeID) throws -> ObjectState? {
        try StateReader(self, scope: scope).state(of: id)
    }

    func tag(named foldedName: String, in scope: ScopeID) throws -> UniqueID? {
        let row = try prepare(PushStatements.tagNamed)
        row.bind(1, scope)
        row.bind(2, foldedName)
        return try row.first { try row.id(0) }
    }

    func indexedSequence(of scope: ScopeID) throws -> Int64 {
        let row = try prepare("SELECT indexed_sequence FROM scopes WHERE id = ?")
        row.bind(1, scope)
        return try row.first { row.integer(0) } ?? 0
    }
}

/// Reads what stands for IDs of one scope, one after the other.
struct StateReader {
    private let object: Prepared
    private let tombstone: Prepared

    init(_ snapshot: SQLiteSnapshot, scope: ScopeID) throws {
        object = try snapshot.prepare(PushStatements.object)
        tombstone = try snapshot.prepare(PushStatements.tombstone)
        object.bind(1, scope)
        tombstone.bind(1, scope)
    }

    /// - Parameter count: told how many bytes its body has, before it is read.
    func state(of id: UniqueID, counting count: (Int) throws -> Void = { _ in }) throws -> ObjectState? {
        object.bind(2, id)
        let live = try object.first {
            let body = object.bytes(2)
            try count(body.count)
            return ObjectState.entity(
                try Entity.read(body, id: id, section: try object.section(0)), sequence: object.integerIfAny(1))
        }
        if let live { return live }
        tombstone.bind(2, id)
        return try tombstone.first {
            ObjectState.deleted(try tombstone.deletedObject(id: id), sequence: tombstone.integer(3))
        }
    }
}
