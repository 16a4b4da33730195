import HesperModel
import HesperStore

extension PostgresSnapshot {
    /// Newest first by `sortDate`, which is `creationDate` until it is set; of equals, the greater ID. By relevance: first
    /// those where the words stand more often, by `ts_rank` over the logarithm of the note's length.
    ///
    /// What is found is put in order once, before any body is looked at; bodies are read a few at a time.
    func search(_ search: Search, in scope: ScopeID) throws -> SearchPage {
        var page = SearchPage(search)
        guard search.limit > 0, search.tags != [] else { return page }
        let found = try candidates(search, page, in: scope)
        var (index, batch) = (0, ScanBatch())
        while index < found.count {
            batch.begin()
            let next = found[index..<min(index + batch.rows, found.count)]
            var states: [UniqueID: ObjectState] = [:]
            let left = Set(
                try someStates(of: next.map(\.note), in: scope) { id, state, _ in states[id] = state })
            for candidate in next {
                guard !left.contains(candidate.note) else { break }
                index += 1
                // The index may be behind: what is gone by now is left out here.
                var note: Note?
                if case .entity(.note(let live), _?)? = states[candidate.note] {
                    batch.count(live.text.utf8.count)
                    if candidate.isCertain || search.query.matches(live.text) { note = live }
                }
                guard page.examine(note, candidate.position) else { return page }
            }
        }
        return page
    }

    /// A note that the index found.
    private struct Candidate {
        let note: UniqueID
        let position: SearchPosition
        /// Whether it needs no look at the text.
        let isCertain: Bool
    }

    private func candidates(_ search: Search, _ page: SearchPage, in scope: ScopeID) throws -> [Candidate] {
        let statement = SearchStatement(search, tags: page.tags, in: scope)
        let isCertain = Lexemes.areEnough(for: search.query)
        // A statement has at least a millisecond: 0 would be no limit.
        let milliseconds = max(1, Int64(search.timeout / .milliseconds(1)))
        connection.enqueue(
            "SELECT set_config('statement_timeout', $1, true)", [.text("\(milliseconds)")])
        var passed = search.passed
        do {
            return try connection.all(statement.sql, statement.arguments) { row in
                passed += 1
                let id = try row.id(0)
                return Candidate(
                    note: id,
                    position: search.isRanked ? .past(passed) : .behind(sortDate: row.timestamp(1), note: id),
                    isCertain: isCertain && !row.bool(2))
            }
        } catch let error as PostgresError where error.sqlState == "57014" && ContinuousClock.now >= page.end {
            throw SearchTooCostly()
        }
    }
}

/// What finds the notes in their order, as far as the index can tell: those whose terms are in several parts are only
/// likely to be found.
///
/// Words, or else tags, tell which notes; each of these is looked up then. OFFSET keeps PostgreSQL to that: in a young database it
/// would go through all that the words have found for each note of the scope, and in old sessions still when that has grown.
struct SearchStatement {
    let sql: String
    let arguments: [PostgresValue]

    init(_ search: Search, tags: [UniqueID]?, in scope: ScopeID) {
        var arguments: [PostgresValue] = [.scope(scope), .int(search.noteLimit), .int(search.passed)]
        /// Its place among the arguments.
        func argument(_ value: PostgresValue) -> String {
            arguments.append(value)
            return "$\(arguments.count)"
        }
        var conditions: [String] = []
        var (found, isLikely, order): (String?, String, String) = (nil, "false", "")
        if !search.query.isEmpty {
            let all = "\(argument(.text(Lexemes.all(search.query, scope: scope))))::text::tsquery"
            let any = "\(argument(.text(Lexemes.any(search.query, scope: scope))))::text::tsquery"
            found = """
                SELECT note, false AS is_split, \(search.isRanked ? "ts_rank(lexemes, \(all), 1)" : "0") AS rank FROM terms
                WHERE scope = $1 AND NOT is_split AND lexemes @@ \(all)
                UNION ALL
                SELECT note, true, \(search.isRanked ? "max(ts_rank(lexemes, \(any), 1))" : "0") FROM terms
                WHERE scope = $1 AND is_split AND lexemes @@ \(any) GROUP BY note
                """
            isLikely = "f.is_split"
            if search.isRanked { order = "f.rank DESC, " }
        }
        if let tags {
            let holders = "FROM members WHERE scope = $1 AND member = ANY (\(argument(.uuidArray(tags))))"
            if found == nil {
                found = "SELECT DISTINCT object AS note \(holders)"
            } else {
                conditions.append("(SELECT true \(holders) AND object = d.note LIMIT 1)")
            }
        }
        if let archived = search.archived { conditions.append("d.archived = \(argument(.bool(archived)))") }
        if case .behind(let sortDate, let note)? = search.start {
            conditions.append("(d.sort_date, d.note) < (\(argument(.date(sortDate))), \(argument(.id(note))))")
        }
        if found == nil { conditions.append("d.scope = $1") }
        let tables = found.map { found in
            """
            (\(found)) AS f CROSS JOIN LATERAL
                (SELECT note, sort_date, archived FROM documents WHERE scope = $1 AND note = f.note OFFSET 0) AS d
            """
        }
        sql = """
            SELECT d.note, d.sort_date, \(isLikely) AS is_likely FROM \(tables ?? "documents d")
            \(conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))")
            ORDER BY \(order)d.sort_date DESC, d.note DESC LIMIT $2 OFFSET $3
            """
        self.arguments = arguments
    }
}
