import HesperModel
import HesperStore

extension PostgresSnapshot {
    func inconsistencies(in scope: ScopeID, _ body: (String) -> Void) throws {
        guard let source = try PostgresInspectionSource(connection, scope: scope) else {
            body("Scope \(scope.rawValue) does not exist.")
            return
        }
        try withoutActuallyEscaping(body) { report in
            var inspection = try ScopeInspection(source, report: report)
            try inspection.inspect()
        }
    }
}

/// A scope's rows for the check, which reads everything in the order of IDs, on purpose.
private struct PostgresInspectionSource: InspectionSource {
    let head: ScopeHead
    let greatestClock: Clock?
    let indexedSequence: Int64
    let storage: Storage
    private let connection: Connection

    init?(_ connection: Connection, scope: ScopeID) throws {
        self.connection = connection
        let found = try connection.first(
            """
            SELECT sequence, digest, greatest_clock, (SELECT indexed_sequence FROM indexing WHERE scope = $1),
                parcel_bytes, blob_bytes, quota
            FROM scopes WHERE id = $1
            """, [.scope(scope)]
        ) { row in
            (
                ScopeHead(scope: scope, sequence: row.integer(0), digest: try row.digest(1)), row.clockIfAny(2),
                row.integer(3), row.storage(from: 4)
            )
        }
        guard let found else { return nil }
        (head, greatestClock, indexedSequence, storage) = found
    }

    private func rows<Found>(
        by id: @escaping (Found) -> UniqueID, _ sql: String, _ body: @escaping (Row) throws -> Found
    ) throws -> InspectedRows<Found> {
        let cursor = try connection.cursor(sql, [.scope(head.scope)])
        return try InspectedRows(by: id) { try cursor.next(body) }
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
        let scope = head.scope
        return try rows(
            by: \.note,
            """
            SELECT d.note, d.sort_date, d.archived, d.text_clock, (
                SELECT string_agg(t.lexemes::text, ' ' ORDER BY t.part) FROM terms t
                WHERE t.scope = $1 AND t.note = d.note)
            FROM documents d WHERE d.scope = $1 ORDER BY d.note
            """
        ) { row in
            let terms = row.isNull(4) ? nil : PostgresInspectionSource.lexemes(row.bytes(4))
            return try row.inspectedDocument { text in
                terms
                    == PostgresInspectionSource.lexemes(Lexemes.parts(of: text, scope: scope).joined(separator: [0x20]))
            }
        }
    }

    /// A `tsvector` in text form as a set: the server gives its terms in an order of its own.
    private static func lexemes(_ text: some Sequence<UInt8>) -> Set<[UInt8]> {
        Set(Array(text).split(separator: 0x20).map(Array.init))
    }

    func blobs() throws -> InspectedRows<InspectedBlob> {
        try rows(
            by: \.attachment,
            "SELECT attachment, byte_count, sha256, unheld_since FROM blobs WHERE scope = $1 ORDER BY attachment"
        ) { try $0.inspectedBlob() }
    }

    func sequencesGivenTwice() throws -> [(sequence: Int64, count: Int64)] {
        try connection.all(
            """
            SELECT sequence, count(*) FROM (
                SELECT sequence FROM objects WHERE scope = $1 AND sequence IS NOT NULL
                UNION ALL SELECT sequence FROM tombstones WHERE scope = $1) AS given
            GROUP BY sequence HAVING count(*) > 1
            """, [.scope(head.scope)]
        ) { ($0.integer(0), $0.integer(1)) }
    }
}
