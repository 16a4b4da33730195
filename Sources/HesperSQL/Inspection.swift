import HesperModel
import HesperStore

extension SQLSnapshot {
    public func inconsistencies(in scope: ScopeID, _ body: (String) -> Void) throws {
        guard let source = try SQLInspectionSource(self, scope: scope) else {
            body("Scope \(scope.rawValue) does not exist.")
            return
        }
        try withoutActuallyEscaping(body) { report in
            var inspection = try ScopeInspection(source, report: report)
            try inspection.inspect()
        }
    }

    /// Reads the rows of a scope for a consistency check, ordered by ID.
    /// - Parameter id: a function that returns the ID of a row. The query must order the rows by this ID.
    public func inspectedRows<Row>(
        of scope: ScopeID, by id: @escaping (Row) -> UniqueID, _ query: String,
        _ body: @escaping (SQL.Row) throws -> Row
    ) throws -> InspectedRows<Row> {
        let cursor = try sql.cursor(query, [.scope(scope)])
        return try InspectedRows(by: id) { try cursor.next(body) }
    }
}

/// Reads all rows of a scope for a consistency check, in the order of their IDs.
private struct SQLInspectionSource<Source: SQLSnapshot>: InspectionSource {
    let head: ScopeHead
    let greatestClock: Clock?
    let indexedSequence: Int64
    let storage: Storage
    private let snapshot: Source

    init?(_ snapshot: Source, scope: ScopeID) throws {
        self.snapshot = snapshot
        let row = try snapshot.sql.first(
            "SELECT sequence, digest, greatest_clock, parcel_bytes, blob_bytes, quota FROM scopes WHERE id = $1",
            [.scope(scope)]
        ) { row in
            (
                ScopeHead(scope: scope, sequence: row.integer(0), digest: try row.digest(1)), row.clockIfAny(2),
                row.storage(from: 3)
            )
        }
        guard let row else { return nil }
        (head, greatestClock, storage) = row
        indexedSequence = try snapshot.indexedSequence(of: scope)
    }

    private func rows<Row>(
        by id: @escaping (Row) -> UniqueID, _ query: String, _ body: @escaping (Source.SQL.Row) throws -> Row
    ) throws -> InspectedRows<Row> {
        try snapshot.inspectedRows(of: head.scope, by: id, query, body)
    }

    func objects() throws -> InspectedRows<InspectedObject> {
        try rows(
            by: \.id,
            "SELECT id, section, type, sequence, bytes, digest, body FROM objects WHERE scope = $1 ORDER BY id"
        ) { try $0.inspectedObject() }
    }

    func deletedObjects() throws -> InspectedRows<InspectedDeletedObject> {
        try rows(
            by: \.id,
            "SELECT id, type, merged_into, deletion_date, sequence, bytes FROM tombstones WHERE scope = $1 ORDER BY id"
        ) { try $0.inspectedDeletedObject() }
    }

    func parcels() throws -> InspectedRows<InspectedParcel> {
        try rows(
            by: \.object,
            "SELECT \(ParcelChecksum.columns) FROM edits WHERE scope = $1 ORDER BY object, number"
        ) { try $0.inspectedParcel() }
    }

    func members() throws -> InspectedRows<InspectedMember> {
        try rows(by: \.object, "SELECT object, member FROM members WHERE scope = $1 ORDER BY object") {
            try $0.inspectedMember()
        }
    }

    func heldMembers() throws -> InspectedRows<UniqueID> {
        try rows(by: \.self, "SELECT member FROM members WHERE scope = $1 ORDER BY member") { try $0.id(0) }
    }

    func tagNames() throws -> InspectedRows<InspectedTagName> {
        try rows(by: \.tag, "SELECT tag, folded_name FROM tag_names WHERE scope = $1 ORDER BY tag") {
            try $0.inspectedTagName()
        }
    }

    func documents() throws -> InspectedRows<InspectedDocument> {
        try snapshot.inspectedDocuments(of: head.scope)
    }

    func blobs() throws -> InspectedRows<InspectedBlob> {
        try rows(
            by: \.attachment,
            "SELECT attachment, byte_count, sha256, unheld_since FROM blobs WHERE scope = $1 ORDER BY attachment"
        ) { try $0.inspectedBlob() }
    }

    func duplicateSequences() throws -> [(sequence: Int64, count: Int64)] {
        try snapshot.sql.all(
            """
            SELECT sequence, count(*) FROM (
                SELECT sequence FROM objects WHERE scope = $1 AND sequence IS NOT NULL
                UNION ALL SELECT sequence FROM tombstones WHERE scope = $1) AS assigned
            GROUP BY sequence HAVING count(*) > 1
            """, [.scope(head.scope)]
        ) { ($0.integer(0), $0.integer(1)) }
    }
}
