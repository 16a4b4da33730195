import HesperModel
import HesperStore

extension SQLiteSnapshot {
    /// Returns the matching notes. If the search is ranked, the notes are ordered by relevance, and notes of the same relevance by
    /// date, newest first. Otherwise, the notes are ordered by date, newest or oldest first. The date is `sortDate`, or
    /// `creationDate` if the note has no `sortDate`. Notes of the same date are in descending order of their IDs, or in ascending
    /// order if the oldest notes come first.
    func search(_ search: Search, in scope: ScopeID) throws -> SearchPage {
        var page = SearchPage(search)
        guard search.limit > 0 else { return page }
        let deadline = Deadline(page.end, on: database)
        let rows = try documents(search, tags: page.tags, in: scope)
        defer { rows.reset() }
        let reader = try StateReader(self, scope: scope)
        var passed = search.passed
        do {
            while try deadline.watch(rows.step) {
                passed += 1
                let id = try rows.id(0)
                // The search index is updated after the commits, so it may contain notes that have been deleted: skip them.
                var note: Note?
                if case .entity(.note(let found), _?)? = try reader.state(of: id) { note = found }
                let position =
                    search.isRanked
                    ? SearchPosition.past(passed) : .behind(sortDate: rows.timestamp(1), note: id)
                guard page.examine(note, position) else { break }
            }
        } catch {
            guard deadline.hasPassed else { throw error }
            guard page.hasExamined else { throw SearchTooCostly() }
            page.stop()
        }
        return page
    }

    /// Finds the notes that may match, in the order of the results, according to the search index.
    ///
    /// If the query has words, CROSS JOIN forces SQLite to find the words first. Otherwise SQLite would read all notes in order
    /// and look up the words for each note.
    private func documents(_ search: Search, tags: [UniqueID]?, in scope: ScopeID) throws -> PreparedStatement {
        let match = ScopedTerms.match(search.query, scope: scope)
        var conditions = ["d.scope = ?1"]
        if match != nil { conditions.append("terms MATCH ?2") }
        if search.archived != nil { conditions.append("d.archived = ?3") }
        let (comparison, direction) = search.order == .oldest ? (">", "ASC") : ("<", "DESC")
        if case .behind? = search.start { conditions.append("(d.sort_date, d.note) \(comparison) (?4, ?5)") }
        if let tags {
            let members = tags.indices.map { "?\($0 + 8)" }.joined(separator: ", ")
            conditions.append("d.note IN (SELECT object FROM members WHERE scope = ?1 AND member IN (\(members)))")
        }
        let tables = match == nil ? "documents d" : "terms CROSS JOIN documents d ON d.number = terms.rowid"
        let rows = try prepare(
            """
            SELECT d.note, d.sort_date FROM \(tables) WHERE \(conditions.joined(separator: " AND "))
            ORDER BY \(search.isRanked ? "terms.rank, " : "")d.sort_date \(direction), d.note \(direction) LIMIT ?6 OFFSET ?7
            """)
        var start: (sortDate: Timestamp?, note: UniqueID?)
        if case .behind(let sortDate, let note)? = search.start { start = (sortDate, note) }
        let arguments: [any SQLiteBindable] = [
            scope, match, search.archived, start.sortDate, start.note, search.noteLimit, search.passed,
        ]
        rows.bind(arguments + (tags ?? []))
        return rows
    }
}
