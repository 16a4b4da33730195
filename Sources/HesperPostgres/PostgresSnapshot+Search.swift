import HesperModel
import HesperStore

extension PostgresSnapshot {
    /// Newest first by `sortDate`, which is `creationDate` until it is set; of equals, the greater ID. By relevance: first
    /// those where the words stand more often, by `ts_rank` over the logarithm of the note's length.
    func search(_ search: Search, in scope: ScopeID) throws -> [Note] {
        guard search.limit > 0, search.tags != [] else { return [] }
        var page = SearchPage(search)
        let statement = SearchStatement(search, tags: page.tags, in: scope)
        // What the server's answer is in any case, it may pass over itself.
        let isCertain = page.isExact && Lexemes.areEnough(for: search.query)
        var (offset, batch, isFull) = (0, ScanBatch(), false)
        while !isFull {
            let count = batch.rows
            batch.begin()
            var rows = 0
            try connection.query(statement.sql, statement.arguments(limit: count, offset: offset)) { row in
                rows += 1
                batch.count(row.bytes(1).count)
                // The index may be behind: what is gone by now is left out here.
                guard !row.isNull(0) else { return true }
                if isCertain, page.isPassing, !row.bool(2) {
                    page.pass()
                    return true
                }
                guard case .note(let note) = try Entity.read(row.bytes(1), id: try row.id(0), section: .notes),
                    isCertain && !row.bool(2) || search.query.matches(note.text)
                else { return true }
                isFull = !page.take(note)
                return !isFull
            }
            guard rows == count else { break }
            offset += count
        }
        return page.notes
    }
}

/// What finds the notes in their order, as far as the index can tell: those whose terms are in several parts are only
/// likely to be found.
struct SearchStatement {
    let sql: String
    private let scope: ScopeID
    private let rest: [PostgresValue]

    init(_ search: Search, tags: [UniqueID]?, in scope: ScopeID) {
        self.scope = scope
        var rest: [PostgresValue] = []
        /// Its place among the arguments, of which three come before.
        func argument(_ value: PostgresValue) -> String {
            rest.append(value)
            return "$\(rest.count + 3)"
        }
        var conditions = ["d.scope = $1"]
        var (tables, isLikely, order) = ("documents d", "false", "")
        if !search.query.isEmpty {
            let all = "\(argument(.text(Lexemes.all(search.query, scope: scope))))::text::tsquery"
            let any = "\(argument(.text(Lexemes.any(search.query, scope: scope))))::text::tsquery"
            let isRanked = search.order == .relevance
            tables = """
                (SELECT note, false AS is_split, \(isRanked ? "ts_rank(lexemes, \(all), 1)" : "0") AS rank FROM terms
                WHERE scope = $1 AND NOT is_split AND lexemes @@ \(all)
                UNION ALL
                SELECT note, true, \(isRanked ? "max(ts_rank(lexemes, \(any), 1))" : "0") FROM terms
                WHERE scope = $1 AND is_split AND lexemes @@ \(any) GROUP BY note) AS f JOIN documents d ON d.note = f.note
                """
            isLikely = "f.is_split"
            if isRanked { order = "rank DESC, " }
        }
        if let archived = search.archived { conditions.append("d.archived = \(argument(.bool(archived)))") }
        if let tags {
            let members = argument(.uuidArray(tags))
            conditions.append("d.note IN (SELECT object FROM members WHERE scope = $1 AND member = ANY (\(members)))")
        }
        let sorting = "\(order)sort_date DESC, note DESC"
        // What is found is put in order before any body is looked at.
        sql = """
            SELECT o.id, o.body, f.is_likely FROM (
                SELECT d.note, d.sort_date, \(isLikely) AS is_likely\(order.isEmpty ? "" : ", f.rank") FROM \(tables)
                WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(sorting) LIMIT $2 OFFSET $3) AS f
            LEFT JOIN objects o ON o.scope = $1 AND o.id = f.note AND o.sequence IS NOT NULL
            ORDER BY \(sorting)
            """
        self.rest = rest
    }

    func arguments(limit: Int, offset: Int) -> [PostgresValue] { [.scope(scope), .int(limit), .int(offset)] + rest }
}
