import HesperModel
import HesperStore

extension PostgresSnapshot {
    func scopesToIndex(after scope: ScopeID?, limit: Int) throws -> [ScopeID] {
        try connection.all(
            "SELECT id FROM scopes WHERE is_behind AND id > $1 ORDER BY id LIMIT $2",
            [.int8(scope?.rawValue ?? 0), .int(max(limit, 0))]
        ) { $0.scope(0) }
    }
}

extension PostgresTransaction {
    /// Adds the changes of a scope to the search index. Only the last statement locks the scope's row, so pushes do not wait while
    /// terms are computed and written. The caller must commit immediately after this call, to release the lock.
    func indexTerms(of scope: ScopeID, limit: Int) throws -> Bool {
        // If two servers index the same scope at the same time, one server waits here until the other server has committed, and
        // then continues where the other server ended.
        let indexed = try connection.first(
            "SELECT indexed_sequence FROM indexing WHERE scope = $1 FOR UPDATE", [.scope(scope)]
        ) { $0.integer(0) }
        guard let indexed, let head = try head(of: scope) else { return true }
        guard indexed < head.sequence else { return true }
        let limit = max(limit, 1)
        let scan = Scan(
            .notes, rows: .all, sequences: indexed + 1...head.sequence, newestFirst: false, limit: limit + 1)
        var writer = DocumentWriter(connection: connection, scope: scope)
        var (count, bytes, last, isDone) = (0, 0, indexed, true)
        try self.scan(scan, in: scope) { row in
            guard count < limit, bytes < TermIndexer.bytesPerSlice else {
                isDone = false
                return false
            }
            guard let id = row.id() else { throw StoreError.damaged("a row of scope \(scope.rawValue) has no ID") }
            switch row.kind {
            case .object(let section):
                if case .note(let note) = try Entity.read(row.body, id: id, section: section) { try writer.put(note) }
            case .deletedObject: writer.remove(id)
            }
            count += 1
            bytes += row.body.count
            last = row.sequence
            return true
        }
        try writer.flush()
        let done = isDone ? head.sequence : last
        connection.enqueue(
            "UPDATE indexing SET indexed_sequence = $2 WHERE scope = $1", [.scope(scope), .int8(done)], expecting: 1)
        connection.enqueue(
            "UPDATE scopes SET is_behind = false WHERE id = $1 AND is_behind AND sequence <= $2",
            [.scope(scope), .int8(done)])
        return isDone
    }
}

/// Writes the search index of one scope. Each statement writes many notes.
private struct DocumentWriter {
    let connection: Connection
    let scope: ScopeID
    private var notes: [Note] = []
    private var removed: [UniqueID] = []
    private var bytes = 0

    /// The maximum total size of the texts in memory, in bytes. When it is exceeded, their terms are written.
    private static let limit = 4 << 20

    init(connection: Connection, scope: ScopeID) {
        self.connection = connection
        self.scope = scope
    }

    mutating func put(_ note: Note) throws {
        notes.append(note)
        bytes += note.text.utf8.count
        if bytes > DocumentWriter.limit { try flush() }
    }

    mutating func remove(_ note: UniqueID) { removed.append(note) }

    /// Writes the notes that were added or removed since the previous call of this method.
    mutating func flush() throws {
        defer { (notes, removed, bytes) = ([], [], 0) }
        let changed = try notesOfOtherText()
        let outdated = removed + changed.map(\.uniqueID)
        if !outdated.isEmpty {
            connection.enqueue(
                "DELETE FROM terms WHERE scope = $1 AND note = ANY ($2)", [.scope(scope), .uuidArray(outdated)])
        }
        if !removed.isEmpty {
            connection.enqueue(
                "DELETE FROM documents WHERE scope = $1 AND note = ANY ($2)", [.scope(scope), .uuidArray(removed)])
        }
        putDocuments()
        putTerms(of: changed)
    }

    /// The notes whose current text differs from the text in the search index.
    private func notesOfOtherText() throws -> [Note] {
        guard !notes.isEmpty else { return [] }
        var clocks: [UniqueID: Clock?] = [:]
        try connection.query(
            "SELECT note, text_clock FROM documents WHERE scope = $1 AND note = ANY ($2)",
            [.scope(scope), .uuidArray(notes.map(\.uniqueID))]
        ) { row in
            clocks[try row.id(0)] = .some(row.clockIfAny(1))
            return true
        }
        return notes.filter { note in clocks[note.uniqueID].map { $0 != note.textClock } ?? true }
    }

    private func putDocuments() {
        guard !notes.isEmpty else { return }
        connection.enqueue(
            """
            INSERT INTO documents (scope, note, sort_date, archived, text_clock)
            SELECT $1::bigint, n.* FROM unnest($2::uuid[], $3::timestamptz[], $4::boolean[], $5::bytea[]) n
            ON CONFLICT (scope, note) DO UPDATE
            SET sort_date = excluded.sort_date, archived = excluded.archived, text_clock = excluded.text_clock
            """,
            [
                .scope(scope), .uuidArray(notes.map(\.uniqueID)),
                .array(.date, notes.map { .date($0.effectiveSortDate) }),
                .array(.bool, notes.map { .bool($0.archived) }), .array(.bytes, notes.map { .clock($0.textClock) }),
            ], expecting: notes.count)
    }

    private func putTerms(of notes: [Note]) {
        guard !notes.isEmpty else { return }
        var (ids, numbers, splits, lexemes): ([UniqueID], [Int64], [Bool], [[UInt8]]) = ([], [], [], [])
        for note in notes {
            let parts = Lexemes.parts(of: note.text, scope: scope)
            for (number, part) in parts.enumerated() {
                ids.append(note.uniqueID)
                numbers.append(Int64(number))
                splits.append(parts.count > 1)
                lexemes.append(part)
            }
        }
        connection.enqueue(
            """
            INSERT INTO terms (scope, note, part, is_split, lexemes)
            SELECT $1::bigint, n.note, n.part, n.is_split, n.lexemes::tsvector
            FROM unnest($2::uuid[], $3::bigint[], $4::boolean[], $5::text[]) AS n (note, part, is_split, lexemes)
            """,
            [
                .scope(scope), .uuidArray(ids), .int8Array(numbers), .array(.bool, splits.map { .bool($0) }),
                .array(.text, lexemes.map { .utf8($0) }),
            ], expecting: ids.count)
    }
}
