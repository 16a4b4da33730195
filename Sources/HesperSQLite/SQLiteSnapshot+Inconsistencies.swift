import HesperModel
import HesperStore

extension SQLiteSnapshot {
    func inconsistencies(in scope: ScopeID, _ body: (String) -> Void) throws {
        guard let source = try SQLiteInspectionSource(self, scope: scope) else {
            body("Scope \(scope.rawValue) does not exist.")
            return
        }
        defer { source.reset() }
        try withoutActuallyEscaping(body) { report in
            var inspection = try ScopeInspection(source, report: report)
            try inspection.inspect()
        }
    }
}

/// A scope's rows for the check, which reads everything in the order of IDs, on purpose.
private final class SQLiteInspectionSource: InspectionSource {
    let head: ScopeHead
    let greatestClock: Clock?
    let indexedSequence: Int64
    let storage: Storage
    private let snapshot: SQLiteSnapshot
    private var open: [Prepared] = []

    init?(_ snapshot: SQLiteSnapshot, scope: ScopeID) throws {
        self.snapshot = snapshot
        let row = try snapshot.prepare(
            """
            SELECT sequence, digest, greatest_clock, indexed_sequence, parcel_bytes, blob_bytes, quota
            FROM scopes WHERE id = ?1
            """)
        row.bind(1, scope)
        let found = try row.first {
            (
                ScopeHead(scope: scope, sequence: row.integer(0), digest: try row.digest(1)), row.clockIfAny(2),
                row.integer(3), row.storage(from: 4)
            )
        }
        guard let found else { return nil }
        (head, greatestClock, indexedSequence, storage) = found
    }

    /// Lets go of what a check that ended early was on.
    func reset() { for rows in open { rows.reset() } }

    private func rows<Row>(
        by id: @escaping (Row) -> UniqueID, _ sql: String, _ body: @escaping (Prepared) throws -> Row
    ) throws -> InspectedRows<Row> {
        let rows = try snapshot.prepare(sql)
        rows.bind(1, head.scope)
        open.append(rows)
        var isOver = false
        return try InspectedRows(by: id) {
            // After its last row a statement would begin again.
            guard !isOver, try rows.step() else {
                isOver = true
                return nil
            }
            return try body(rows)
        }
    }

    func objects() throws -> InspectedRows<InspectedObject> {
        try rows(
            by: \.id,
            "SELECT id, section, type, sequence, bytes, digest, body FROM objects WHERE scope = ?1 ORDER BY id"
        ) { try $0.inspectedObject() }
    }

    func deletedObjects() throws -> InspectedRows<InspectedDeletedObject> {
        try rows(
            by: \.id,
            "SELECT id, type, merged_into, deletion_date, sequence, bytes FROM tombstones WHERE scope = ?1 ORDER BY id"
        ) { try $0.inspectedDeletedObject() }
    }

    func parcels() throws -> InspectedRows<InspectedParcel> {
        try rows(
            by: \.object,
            "SELECT \(ParcelChecksum.columns) FROM edits WHERE scope = ?1 ORDER BY object, number"
        ) { try $0.inspectedParcel() }
    }

    func members() throws -> InspectedRows<InspectedMember> {
        try rows(by: \.object, "SELECT object, member FROM members WHERE scope = ?1 ORDER BY object") {
            try $0.inspectedMember()
        }
    }

    func heldMembers() throws -> InspectedRows<UniqueID> {
        try rows(by: \.self, "SELECT member FROM members WHERE scope = ?1 ORDER BY member") { try $0.id(0) }
    }

    func tagNames() throws -> InspectedRows<InspectedTagName> {
        try rows(by: \.tag, "SELECT tag, folded_name FROM tag_names WHERE scope = ?1 ORDER BY tag") {
            try $0.inspectedTagName()
        }
    }

    func documents() throws -> InspectedRows<InspectedDocument> {
        let scope = head.scope
        return try rows(
            by: \.note,
            """
            SELECT d.note, d.sort_date, d.archived, d.text_clock, t.text
            FROM documents d LEFT JOIN terms t ON t.rowid = d.number WHERE d.scope = ?1 ORDER BY d.note
            """
        ) { row in
            let terms = row.isNull(4) ? nil : Array(row.bytes(4))
            return try row.inspectedDocument { terms == ScopedTerms.joined(in: $0, scope: scope) }
        }
    }

    func blobs() throws -> InspectedRows<InspectedBlob> {
        try rows(
            by: \.attachment,
            "SELECT attachment, byte_count, sha256, unheld_since FROM blobs WHERE scope = ?1 ORDER BY attachment"
        ) { try $0.inspectedBlob() }
    }

    func sequencesGivenTwice() throws -> [(sequence: Int64, count: Int64)] {
        let row = try snapshot.prepare(
            """
            SELECT sequence, count(*) FROM (
                SELECT sequence FROM objects WHERE scope = ?1 AND sequence IS NOT NULL
                UNION ALL SELECT sequence FROM tombstones WHERE scope = ?1)
            GROUP BY sequence HAVING count(*) > 1
            """)
        row.bind(1, head.scope)
        return try row.all { (row.integer(0), row.integer(1)) }
    }
}
