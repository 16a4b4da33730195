import HesperModel
import HesperSQL
import HesperStore

extension SQLiteSnapshot {
    func inspectedDocuments(of scope: ScopeID) throws -> InspectedRows<InspectedDocument> {
        try inspectedRows(
            of: scope, by: \.note,
            """
            SELECT d.note, d.sort_date, d.archived, d.text_clock, t.text
            FROM documents d LEFT JOIN terms t ON t.rowid = d.number WHERE d.scope = $1 ORDER BY d.note
            """
        ) { row in
            let terms = row.isNull(4) ? nil : Array(row.bytes(4))
            return try row.inspectedDocument { terms == ScopedTerms.joined(in: $0, scope: scope) }
        }
    }
}
