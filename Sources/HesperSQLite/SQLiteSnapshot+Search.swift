import HesperModel
import HesperStore

extension SQLiteSnapshot {
    /// Newest first by `sortDate`, which is `creationDate` until it is set; of equals, the greater ID.
    func search(_ search: Search, in scope: ScopeID) throws -> [Note] {
        guard search.limit > 0 else { return [] }
        var page = SearchPage(search)
        let rows = try documents(search, tags: page.tags, in: scope)
        let reader = try StateReader(self, scope: scope)
        try rows.eachRowUntilFalse {
            let id = try rows.id(0)
            if page.isExact, page.isPassing {
                if try exists(id, in: scope) { page.pass() }
                return true
            }
            // The index may be behind: what is gone by now is left out here.
            guard case .entity(.note(let note), _?)? = try reader.state(of: id) else { return true }
            return page.take(note)
        }
        return page.notes
    }

    private func exists(_ id: UniqueID, in scope: ScopeID) throws -> Bool {
        let row = try prepare("SELECT 1 FROM objects WHERE scope = ?1 AND id = ?2 AND sequence IS NOT NULL")
        row.bind(1, scope)
        row.bind(2, id)
        return try row.first { true } ?? false
    }

    /// The notes in their order, as far as the index can tell.
    private func documents(_ search: Search, tags: [UniqueID]?, in scope: ScopeID) throws -> Prepared {
        let match = ScopedTerms.match(search.query, scope: scope)
        var conditions = ["d.scope = ?1"]
        if match != nil { conditions.append("terms MATCH ?2") }
        if search.archived != nil { conditions.append("d.archived = ?3") }
        if let tags {
            let members = tags.indices.map { "?\($0 + 4)" }.joined(separator: ", ")
            conditions.append("d.note IN (SELECT object FROM members WHERE scope = ?1 AND member IN (\(members)))")
        }
        let tables = match == nil ? "documents d" : "terms JOIN documents d ON d.number = terms.rowid"
        let order = match != nil && search.order == .relevance ? "terms.rank, " : ""
        let rows = try prepare(
            """
            SELECT d.note FROM \(tables) WHERE \(conditions.joined(separator: " AND "))
            ORDER BY \(order)d.sort_date DESC, d.note DESC
            """)
        rows.bind(1, scope)
        if let match { rows.bind(2, match) }
        if let archived = search.archived { rows.bind(3, archived) }
        for (index, tag) in (tags ?? []).enumerated() { rows.bind(Int32(index) + 4, tag) }
        return rows
    }
}

extension Prepared {
    fileprivate func eachRowUntilFalse(_ body: () throws -> Bool) throws {
        defer { reset() }
        while try step(), try body() {}
    }
}
