import HesperModel
import HesperStore

/// The columns that ``Prepared/revocation()`` reads.
private let columns = """
    SELECT scope, node, name, requested_by, request_date, moment, pass, sequence, finish_date,
        put_back, deleted, older, kept
    FROM revocations
    """

extension SQLiteSnapshot {
    func revocation(of node: NodeID, in scope: ScopeID) throws -> Revocation? {
        let row = try prepare("\(columns) WHERE scope = ?1 AND node = ?2")
        row.bind(1, scope)
        row.bind(2, node)
        return try row.first { try row.revocation() }
    }

    func revocations(of nodes: Set<NodeID>, in scope: ScopeID) throws -> [Revocation] {
        try nodes.sorted().compactMap { try revocation(of: $0, in: scope) }
    }

    func hasTrace(of node: NodeID, in scope: ScopeID) throws -> Bool {
        for statement in [
            "SELECT 1 FROM edits WHERE scope = ?1 AND pushed_by = ?2 LIMIT 1",
            "SELECT 1 FROM tombstones WHERE scope = ?1 AND deleted_by = ?2 LIMIT 1",
        ] {
            let row = try prepare(statement)
            row.bind(1, scope)
            row.bind(2, node)
            if try row.first({ true }) != nil { return true }
        }
        return false
    }

    func openRevocations(limit: Int) throws -> [Revocation] {
        let row = try prepare(
            "\(columns) INDEXED BY revocations_open WHERE finish_date IS NULL AND scope > 0 ORDER BY scope, node LIMIT ?1"
        )
        row.bind(1, max(limit, 0))
        return try row.all { try row.revocation() }
    }

    func objects(
        in scope: ScopeID, beyond sequence: Int64, pushedBy node: NodeID, after moment: Timestamp, limit: Int
    ) throws -> [PushedObject] {
        let row = try prepare(
            """
            SELECT o.id, o.section, o.sequence, (
                SELECT 1 FROM edits e
                WHERE e.scope = ?1 AND e.object = o.id AND e.pushed_by = ?3 AND e.pushed_at > ?4 LIMIT 1) IS NOT NULL
            FROM objects o WHERE o.scope = ?1 AND o.sequence > ?2 ORDER BY o.sequence LIMIT ?5
            """)
        row.bind(1, scope)
        row.bind(2, sequence)
        row.bind(3, node)
        row.bind(4, moment)
        row.bind(5, max(limit, 0))
        return try row.all {
            PushedObject(
                uniqueID: try row.id(0), section: try row.section(1), sequence: row.integer(2),
                isPushed: row.integer(3) != 0)
        }
    }

    func deletions(
        by node: NodeID, after moment: Timestamp, in scope: ScopeID, before sequence: Int64?, limit: Int
    ) throws -> [(deleted: DeletedObject, sequence: Int64)] {
        let row = try prepare(
            """
            SELECT type, merged_into, deletion_date, sequence, id FROM tombstones
            WHERE scope = ?1 AND sequence < ?2 AND deleted_by = ?3 AND arrival_date > ?4
            ORDER BY sequence DESC LIMIT ?5
            """)
        row.bind(1, scope)
        row.bind(2, sequence ?? .max)
        row.bind(3, node)
        row.bind(4, moment)
        row.bind(5, max(limit, 0))
        return try row.all { (try row.deletedObject(id: try row.id(4)), row.integer(3)) }
    }
}

extension SQLiteTransaction {
    func put(_ revocation: Revocation) throws {
        let insert = try prepare(
            """
            INSERT OR REPLACE INTO revocations (scope, node, name, requested_by, request_date, moment, pass, sequence,
                finish_date, put_back, deleted, older, kept)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            """)
        insert.bind(1, revocation.scope)
        insert.bind(2, revocation.node)
        insert.bind(3, revocation.name)
        insert.bind(4, revocation.requestedBy)
        insert.bind(5, revocation.requestDate)
        insert.bind(6, revocation.moment)
        insert.bind(7, revocation.pass.rawValue)
        insert.bind(8, revocation.sequence)
        insert.bind(9, revocation.finishDate)
        insert.bind(10, revocation.counts.putBack)
        insert.bind(11, revocation.counts.deleted)
        insert.bind(12, revocation.counts.older)
        insert.bind(13, revocation.counts.kept)
        try insert.run()
        let mark = try prepare("UPDATE scopes SET has_revocations = 1 WHERE id = ?1 AND has_revocations = 0")
        mark.bind(1, revocation.scope)
        try mark.run()
    }
}

extension Prepared {
    fileprivate func revocation() throws -> Revocation {
        guard let pass = Revocation.Pass(rawValue: int(6)) else {
            throw StoreError.damaged("a revocation is in a pass that there is not")
        }
        return Revocation(
            scope: ScopeID(integer(0)), node: try node(1), name: string(2), requestedBy: nodeIfAny(3),
            requestDate: timestamp(4), moment: timestampIfAny(5), pass: pass, sequence: integer(7),
            finishDate: timestampIfAny(8),
            counts: Revocation.Counts(putBack: int(9), deleted: int(10), older: int(11), kept: int(12)))
    }
}
