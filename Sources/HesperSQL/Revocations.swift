import HesperModel
import HesperStore

extension Revocation {
    /// The SELECT and FROM clauses of a query for revocations. ``HesperStore/StoredRow/revocation()`` decodes its rows.
    public static let columns = """
        SELECT scope, node, name, requested_by, request_date, moment, pass, sequence, finish_date,
            put_back, deleted, older, kept
        FROM revocations
        """
}

extension SQLSnapshot {
    public func revocation(of node: NodeID, in scope: ScopeID) throws -> Revocation? {
        try sql.first("\(Revocation.columns) WHERE scope = $1 AND node = $2", [.scope(scope), .node(node)]) {
            try $0.revocation()
        }
    }

    public func hasTrace(of node: NodeID, in scope: ScopeID) throws -> Bool {
        try sql.first(
            """
            SELECT EXISTS (SELECT 1 FROM edits WHERE scope = $1 AND pushed_by = $2)
                OR EXISTS (SELECT 1 FROM tombstones WHERE scope = $1 AND deleted_by = $2)
            """, [.scope(scope), .node(node)]
        ) { $0.bool(0) } ?? false
    }

    public func openRevocations(limit: Int) throws -> [Revocation] {
        try sql.all(
            """
            \(Revocation.columns)\(sql.dialect.index("revocations_open")) WHERE finish_date IS NULL AND scope > 0
            ORDER BY scope, node LIMIT $1
            """, [.limit(limit)]
        ) { try $0.revocation() }
    }

    public func objects(
        in scope: ScopeID, beyond sequence: Int64, pushedBy node: NodeID, after moment: Timestamp, limit: Int
    ) throws -> [PushedObject] {
        // A subquery finds at most one edit per object. With EXISTS instead of the subquery, PostgreSQL might read all edits of
        // the scope.
        try sql.all(
            """
            SELECT o.id, o.section, o.sequence, (
                SELECT 1 FROM edits e
                WHERE e.scope = $1 AND e.object = o.id AND e.pushed_by = $3 AND e.pushed_at > $4 LIMIT 1) IS NOT NULL
            FROM objects o WHERE o.scope = $1 AND o.sequence > $2 ORDER BY o.sequence LIMIT $5
            """, [.scope(scope), .integer(sequence), .node(node), .date(moment), .limit(limit)]
        ) {
            PushedObject(
                uniqueID: try $0.id(0), section: try $0.section(1), sequence: $0.integer(2), isPushed: $0.bool(3))
        }
    }

    public func deletions(
        by node: NodeID, after moment: Timestamp, in scope: ScopeID, before sequence: Int64?, limit: Int
    ) throws -> [(deleted: DeletedObject, sequence: Int64)] {
        try sql.all(
            """
            SELECT type, merged_into, deletion_date, sequence, id FROM tombstones
            WHERE scope = $1 AND sequence < $2 AND deleted_by = $3 AND arrival_date > $4
            ORDER BY sequence DESC LIMIT $5
            """, [.scope(scope), .integer(sequence ?? .max), .node(node), .date(moment), .limit(limit)]
        ) { (try $0.deletedObject(id: try $0.id(4)), $0.integer(3)) }
    }
}

extension SQLTransaction {
    public func put(_ revocation: Revocation) throws {
        let counts = revocation.counts
        try sql.enqueue(
            """
            INSERT INTO revocations (scope, node, name, requested_by, request_date, moment, pass, sequence,
                finish_date, put_back, deleted, older, kept)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
            ON CONFLICT (scope, node) DO UPDATE SET moment = $6, pass = $7, sequence = $8, finish_date = $9,
                put_back = $10, deleted = $11, older = $12, kept = $13
            """,
            [
                .scope(revocation.scope), .node(revocation.node), .text(revocation.name),
                .node(revocation.requestedBy), .date(revocation.requestDate), .date(revocation.moment),
                .int(revocation.pass.rawValue), .integer(revocation.sequence), .date(revocation.finishDate),
                .int(counts.putBack), .int(counts.deleted), .int(counts.older), .int(counts.kept),
            ], expecting: 1)
        try sql.enqueue(
            "UPDATE scopes SET has_revocations = true WHERE id = $1 AND NOT has_revocations",
            [.scope(revocation.scope)])
        recordRevocation(in: revocation.scope)
    }
}

extension StoredRow {
    /// Decodes a row that was selected with ``Revocation/columns``.
    public func revocation() throws -> Revocation {
        guard let pass = Revocation.Pass(rawValue: int(6)) else {
            throw StoreError.damaged("the table revocations has a row with an unknown pass")
        }
        return Revocation(
            scope: scope(0), node: try node(1), name: string(2), requestedBy: nodeIfAny(3), requestDate: timestamp(4),
            moment: timestampIfAny(5), pass: pass, sequence: integer(7), finishDate: timestampIfAny(8),
            counts: Revocation.Counts(putBack: int(9), deleted: int(10), older: int(11), kept: int(12)))
    }
}
