import HesperModel
import HesperSQL
import HesperStore

extension SQLiteSnapshot {
    func scopesToIndex(after scope: ScopeID?, limit: Int) throws -> [ScopeID] {
        try sql.all(
            "SELECT id FROM scopes WHERE indexed_sequence < sequence AND id > $1 ORDER BY id LIMIT $2",
            [.integer(scope?.rawValue ?? 0), .limit(limit)]
        ) { $0.scope(0) }
    }
}

extension SQLiteTransaction {
    func indexTerms(of scope: ScopeID, limit: Int) throws -> Bool {
        guard let head = try head(of: scope) else { return true }
        let indexed = try indexedSequence(of: scope)
        guard indexed < head.sequence else { return true }
        let writer = try DocumentWriter(self, scope: scope)
        let scan = Scan(.notes, rows: .all, sequences: indexed + 1...head.sequence, newestFirst: false)
        var (count, bytes, last, isDone) = (0, 0, indexed, true)
        try self.scan(scan, in: scope) { row in
            guard count < max(limit, 1), bytes < TermIndexer.bytesPerSlice else {
                isDone = false
                return false
            }
            guard let id = row.id() else { throw StoreError.damaged("a row of scope \(scope.rawValue) has no ID") }
            switch row.kind {
            case .object(let section):
                if case .note(let note) = try Entity.read(row.body, id: id, section: section) { try writer.put(note) }
            case .deletedObject: try writer.remove(id)
            }
            count += 1
            bytes += row.body.count
            last = row.sequence
            return true
        }
        try sql.enqueue(
            "UPDATE scopes SET indexed_sequence = $2 WHERE id = $1",
            [.scope(scope), .integer(isDone ? head.sequence : last)])
        return isDone
    }
}

/// Writes the search index of one scope.
private struct DocumentWriter {
    let scope: ScopeID
    let find, insert, update, delete, insertTerms, updateTerms, deleteTerms: PreparedStatement

    init(_ transaction: SQLiteTransaction, scope: ScopeID) throws {
        self.scope = scope
        find = try transaction.prepare("SELECT number, text_clock FROM documents WHERE scope = ?1 AND note = ?2")
        insert = try transaction.prepare(
            "INSERT INTO documents (scope, note, sort_date, archived, text_clock) VALUES (?1, ?2, ?3, ?4, ?5)")
        update = try transaction.prepare(
            "UPDATE documents SET sort_date = ?2, archived = ?3, text_clock = ?4 WHERE number = ?1")
        delete = try transaction.prepare("DELETE FROM documents WHERE number = ?1")
        insertTerms = try transaction.prepare("INSERT INTO terms (rowid, text) VALUES (?1, ?2)")
        updateTerms = try transaction.prepare("UPDATE terms SET text = ?2 WHERE rowid = ?1")
        deleteTerms = try transaction.prepare("DELETE FROM terms WHERE rowid = ?1")
    }

    private func document(of note: UniqueID) throws -> (number: Int64, textClock: Clock?)? {
        find.bind(scope, note)
        return try find.first { (find.integer(0), find.clockIfAny(1)) }
    }

    func put(_ note: Note) throws {
        let clock = note.textClock
        guard let document = try document(of: note.uniqueID) else {
            insert.bind(scope, note.uniqueID, note.effectiveSortDate, note.archived, clock)
            return try write(note, at: insert.insertRow(), with: insertTerms)
        }
        update.bind(document.number, note.effectiveSortDate, note.archived, clock)
        try update.run()
        if document.textClock != clock { try write(note, at: document.number, with: updateTerms) }
    }

    private func write(_ note: Note, at number: Int64, with statement: PreparedStatement) throws {
        statement.bind(number, SQLiteText(ScopedTerms.joined(in: note.text, scope: scope)))
        try statement.run()
    }

    func remove(_ note: UniqueID) throws {
        guard let document = try document(of: note) else { return }
        for statement in [delete, deleteTerms] {
            statement.bind(document.number)
            try statement.run()
        }
    }
}
