internal import GRDB
internal import HesperModel

/// The full-text index of a type: an FTS5 table with the terms in the texts of the objects. ``Terms`` splits a text into terms, as
/// for the server's index.
///
/// The index is built when a type is searched for the first time. From then on, triggers record each row that this process, another
/// process or sync changes. The next search updates the index entries of these rows.
struct SearchIndex {
    private let type: String
    private let attributes: [String]
    private let table: String
    private let objects: String

    init<Object: SyncedObject>(of type: Object.Type) {
        self.type = Object.objectType
        attributes = Shape<Object>.shared.searchable
        table = LocalDatabase.quoted("search.\(Object.objectType)")
        objects = LocalDatabase.table(Object.objectType)
    }

    /// Whether the index exists and is up to date.
    func isCurrent(_ records: RecordsTransaction) throws -> Bool {
        let indexed = try indexedAttributes(records)
        guard Set(attributes).isSubset(of: indexed), !indexed.isEmpty else { return false }
        return try Row.fetchOne(
            records.database, sql: "SELECT 1 FROM searchQueue WHERE type = ? LIMIT 1", arguments: [type]) == nil
    }

    /// Creates the index if necessary, and indexes at most `limit` of the changed rows.
    /// - Returns: whether more rows may have to be indexed.
    func update(_ records: RecordsTransaction, atMost limit: Int = 500) throws -> Bool {
        let known = try indexedAttributes(records)
        // Several versions of an app may use the database file and declare different properties. The index covers the properties of
        // all these versions.
        let all = Set(known).union(attributes).sorted()
        if all != known { try create(all, records) }
        let texts = all.map { "coalesce(\(Column.json($0)), '')" }.joined(separator: " || char(10) || ")
        let rows = try Row.fetchAll(
            records.database,
            sql: """
                SELECT q.row, CASE WHEN o.row IS NOT NULL THEN \(texts) END
                FROM searchQueue q LEFT JOIN \(objects) o ON o.row = q.row WHERE q.type = ? LIMIT ?
                """, arguments: [type, limit])
        for row in rows {
            let number = row[0] as Int64
            try execute("DELETE FROM searchQueue WHERE type = ? AND row = ?", [type, number], records)
            try execute("DELETE FROM \(table) WHERE rowid = ?", [number], records)
            if let text = row[1] as String? {
                try execute(
                    "INSERT INTO \(table) (rowid, text) VALUES (?, ?)", [number, Terms.joined(in: text)], records)
            }
        }
        return rows.count == limit
    }

    private func execute(_ sql: String, _ arguments: StatementArguments, _ records: RecordsTransaction) throws {
        try records.database.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    private func indexedAttributes(_ records: RecordsTransaction) throws -> [String] {
        try records.meta("search.\(type)")?.elements.compactMap(\.string) ?? []
    }

    private func create(_ attributes: [String], _ records: RecordsTransaction) throws {
        let name = "'\(type)'"
        try records.database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS searchQueue (type TEXT, row INTEGER, PRIMARY KEY (type, row)) WITHOUT ROWID;
                CREATE VIRTUAL TABLE IF NOT EXISTS \(table) USING fts5 (text, tokenize = 'ascii');
                CREATE TRIGGER IF NOT EXISTS \(LocalDatabase.quoted("searchInsert.\(type)")) AFTER INSERT ON \(objects)
                    BEGIN INSERT OR IGNORE INTO searchQueue VALUES (\(name), new.row); END;
                CREATE TRIGGER IF NOT EXISTS \(LocalDatabase.quoted("searchUpdate.\(type)"))
                    AFTER UPDATE OF body ON \(objects) WHEN new.body <> old.body
                    BEGIN INSERT OR IGNORE INTO searchQueue VALUES (\(name), new.row); END;
                CREATE TRIGGER IF NOT EXISTS \(LocalDatabase.quoted("searchDelete.\(type)")) AFTER DELETE ON \(objects)
                    BEGIN INSERT OR IGNORE INTO searchQueue VALUES (\(name), old.row); END;
                INSERT OR IGNORE INTO searchQueue SELECT \(name), row FROM \(objects);
                """)
        try records.setMeta("search.\(type)", .array(attributes.map(JSON.string)))
    }

    /// The SQL statement that finds the objects that match a query. More relevant objects come first (the rank of FTS5).
    func find(_ query: SearchQuery, limit: Int?) -> SQL {
        let limit: SQL = limit.map { "LIMIT \(max(0, $0))" } ?? ""
        // Without words, a query matches everything.
        guard !query.isEmpty else {
            return """
                SELECT id, body, clocks FROM \(sql: objects) WHERE isHidden = 0 ORDER BY id \(limit)
                """
        }
        let match: String = query.phrases.map { phrase -> String in
            let terms = phrase.map { $0.text.replacing("\"", with: "\"\"") }.joined(separator: " ")
            return "\"\(terms)\"\(phrase.last?.isPrefix ?? false ? " *" : "")"
        }.joined(separator: " AND ")
        return """
            SELECT o.id, o.body, o.clocks FROM \(sql: table) s CROSS JOIN \(sql: objects) o ON o.row = s.rowid
            WHERE \(sql: table) MATCH \(match) AND o.isHidden = 0 ORDER BY s.rank, o.id \(limit)
            """
    }
}

extension LocalStore {
    /// The notes that contain the words of a query. A query has the same syntax as in `GET /v1/search` of the server.
    ///
    ///     let notes = try await store.search("leek \"potato soup\"")
    ///
    /// A word also matches longer words that begin with it. Case and accents are ignored. Notes in which the words
    /// occur more often come first.
    /// - Throws: ``StoreError/invalidQuery(_:)`` if the query has more than 1,000 characters or 32 words.
    public func search(_ query: String, limit: Int? = nil) async throws -> [Note] {
        try await search(query, in: Note.self, limit: limit)
    }

    /// The objects of a type that contain the words of a query in their properties of type `String`, `String?` or ``MergedText``. Of
    /// a ``Note``, only the text is searched, and of an ``Attachment``, the filename. The first search of a type builds an index.
    /// - Throws: ``StoreError/invalidQuery(_:)`` if the query has more than 1,000 characters or 32 words.
    public func search<Object: SyncedObject>(
        _ query: String, in type: Object.Type, limit: Int? = nil
    ) async throws -> [Object] {
        let parsed: SearchQuery
        do { parsed = try SearchQuery(query) } catch { throw StoreError.invalidQuery(error.description) }
        let index = SearchIndex(of: type)
        var isCurrent = try await read { tx in
            try tx.reader.check(type)
            return try index.isCurrent(tx.reader.records)
        }
        while !isCurrent { isCurrent = try await !database.performWrite { try index.update($0) } }
        return try await read { try $0.reader.fetch(index.find(parsed, limit: limit)) }
    }
}
