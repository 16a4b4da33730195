import HesperModel
import HesperSQL
import HesperStore

extension PostgresSnapshot {
    func inspectedDocuments(of scope: ScopeID) throws -> InspectedRows<InspectedDocument> {
        try inspectedRows(
            of: scope, by: \.note,
            """
            SELECT d.note, d.sort_date, d.archived, d.text_clock, (
                SELECT string_agg(t.lexemes::text, ' ' ORDER BY t.part) FROM terms t
                WHERE t.scope = $1 AND t.note = d.note)
            FROM documents d WHERE d.scope = $1 ORDER BY d.note
            """
        ) { row in
            let terms = row.isNull(4) ? nil : PostgresSnapshot.lexemes(row.bytes(4))
            return try row.inspectedDocument { text in
                terms == PostgresSnapshot.lexemes(Lexemes.parts(of: text, scope: scope).joined(separator: [0x20]))
            }
        }
    }

    /// The terms of a `tsvector` in text form. They are a set because PostgreSQL changes their order.
    private static func lexemes(_ text: some Sequence<UInt8>) -> Set<[UInt8]> {
        Set(Array(text).split(separator: 0x20).map(Array.init))
    }
}
