import HesperModel
import HesperStore

extension PostgresSnapshot {
    /// Returns the matching notes. If the search is ranked, notes that contain the words more often come first. Their rank is
    /// `ts_rank`, divided by 1 + the logarithm of the note's length. Notes of the same rank, and all notes of a search that is
    /// not ranked, are ordered by `sortDate`, newest first. A note without `sortDate` is ordered by `creationDate`. Notes of the
    /// same date are in descending order of their IDs. If the oldest notes come first, dates and IDs are in ascending order.
    ///
    /// The notes that the search index finds are sorted once. Then their bodies are read in batches.
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
                // The search index is updated after the commits, so it may contain notes that have been deleted: skip them.
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

    /// A note that the search index found and that may match.
    private struct Candidate {
        let note: UniqueID
        let position: SearchPosition
        /// Whether the search index alone shows that the note matches. Otherwise its text has to be checked.
        let isCertain: Bool
    }

    private func candidates(_ search: Search, _ page: SearchPage, in scope: ScopeID) throws -> [Candidate] {
        let statement = SearchStatement(search, tags: page.tags, in: scope)
        let isCertain = Lexemes.areSufficient(for: search.query)
        // The timeout must be at least 1 ms, because 0 would disable it.
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

/// The statement that finds the notes that may match, in the order of the results. A note whose terms are split into several
/// parts is found if one part contains one of the words, so its text has to be checked.
///
/// The statement first finds the notes with the words, or with the tags if there are no words, and then looks up each of these
/// notes. OFFSET 0 forces PostgreSQL to use this order. Otherwise, while the database has few notes, PostgreSQL would choose a plan
/// that reads all matches of the words again for each note of the scope. Sessions would keep this plan after the database has
/// grown.
struct SearchStatement {
    let sql: String
    let arguments: [PostgresValue]

    init(_ search: Search, tags: [UniqueID]?, in scope: ScopeID) {
        var arguments: [PostgresValue] = [.scope(scope), .int(search.noteLimit), .int(search.passed)]
        /// Appends an argument and returns its placeholder, for example `$4`.
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
        let (comparison, direction) = search.order == .oldest ? (">", "ASC") : ("<", "DESC")
        if case .behind(let sortDate, let note)? = search.start {
            conditions.append(
                "(d.sort_date, d.note) \(comparison) (\(argument(.date(sortDate))), \(argument(.id(note))))")
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
            ORDER BY \(order)d.sort_date \(direction), d.note \(direction) LIMIT $2 OFFSET $3
            """
        self.arguments = arguments
    }
}
