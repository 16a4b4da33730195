import HesperModel
import HesperStore

extension SQLiteSnapshot {
    /// Newest first by `sortDate`, which is `creationDate` until it is set; of equals, the greater ID.
    func search(_ search: Search, in scope: ScopeID) throws -> [Note] {
        guard search.limit > 0 else { return [] }
        let tags = search.tags.map { Set($0).sorted() }
        // Of several tags that came to be one, the greatest clock decides, which only the notes themselves tell.
        let isExact = (tags?.count ?? 0) <= 1
        let rows = try documents(search, tags: tags, limit: isExact ? search.limit : nil, in: scope)
        let reader = try StateReader(self, scope: scope)
        var notes: [Note] = []
        var passed = isExact ? search.offset : 0
        try rows.forEachUntilFalse {
            guard case .entity(.note(let note), _)? = try reader.state(of: try rows.id(0)) else { return true }
            if !isExact, let tags {
                guard note.tags.holds(oneOf: tags) else { return true }
                if passed < search.offset {
                    passed += 1
                    return true
                }
            }
            notes.append(note)
            return notes.count < search.limit
        }
        return notes
    }

    /// The notes in their order, as far as the index can tell; `limit` is nil if the caller leaves out some.
    private func documents(_ search: Search, tags: [UniqueID]?, limit: Int?, in scope: ScopeID) throws -> Prepared {
        let match = ScopedTerms.match(search.query, scope: scope)
        var conditions = ["d.scope = ?1", "o.sequence IS NOT NULL"]
        if match != nil { conditions.append("terms MATCH ?2") }
        if search.archived != nil { conditions.append("d.archived = ?3") }
        if let tags {
            let members = tags.indices.map { "?\($0 + 6)" }.joined(separator: ", ")
            conditions.append("d.note IN (SELECT object FROM members WHERE scope = ?1 AND member IN (\(members)))")
        }
        let order = match != nil && search.order == .relevance ? "terms.rank, " : ""
        let rows = try prepare(
            """
            SELECT d.note FROM \(match == nil ? "" : "terms JOIN ") documents d \(match == nil ? "" : "ON d.number = terms.rowid")
            JOIN objects o ON o.scope = d.scope AND o.id = d.note
            WHERE \(conditions.joined(separator: " AND "))
            ORDER BY \(order)d.sort_date DESC, d.note DESC LIMIT ?4 OFFSET ?5
            """)
        rows.bind(1, scope)
        if let match { rows.bind(2, match) }
        if let archived = search.archived { rows.bind(3, archived) }
        rows.bind(4, limit ?? -1)
        rows.bind(5, limit == nil ? 0 : max(search.offset, 0))
        for (index, tag) in (tags ?? []).enumerated() { rows.bind(Int32(index) + 6, tag) }
        return rows
    }
}

extension Prepared {
    fileprivate func forEachUntilFalse(_ body: () throws -> Bool) throws {
        defer { reset() }
        while try step(), try body() {}
    }
}

extension Members {
    /// Whether the register with the greatest clock, of those of these members, says in.
    fileprivate func holds(oneOf members: [UniqueID]) -> Bool {
        members.compactMap { self[$0] }.max { $0.clock < $1.clock }?.value ?? false
    }
}
