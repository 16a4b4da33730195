import HesperModel
import HesperStore

extension SQLSnapshot {
    public func importRecord(of scope: ScopeID) throws -> ImportRecord? {
        try sql.first(
            """
            SELECT id, name, byte_count, creation_date, requested_by, state, done, total, preview, report, problem,
                attempts
            FROM imports WHERE scope = $1
            """, [.scope(scope)]
        ) { try $0.importRecord() }
    }

    public func unfinishedImports(before date: Timestamp, limit: Int) throws -> [UnfinishedImport] {
        try sql.all(
            """
            SELECT scope, id, state FROM imports
            WHERE state NOT IN ('done', 'failed') AND creation_date < $1 ORDER BY creation_date LIMIT $2
            """, [.date(date), .limit(limit)]
        ) { row in
            UnfinishedImport(scope: row.scope(0), uniqueID: try row.id(1), state: try row.importState(2))
        }
    }
}

extension SQLTransaction {
    public func insert(_ record: ImportRecord, in scope: ScopeID) throws {
        try lockExisting(scope)
        try sql.enqueue(
            """
            INSERT INTO imports
                (scope, id, name, byte_count, creation_date, requested_by, state, done, total, preview, report, problem,
                attempts)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0)
            """,
            [
                .scope(scope), .id(record.uniqueID), .text(record.name), .integer(record.byteCount),
                .date(record.creationDate), .node(record.requestedBy), .text(record.state.rawValue),
                .integer(record.done), .integer(record.total), .text(record.preview), .text(record.report),
                .text(record.problem),
            ], expecting: 1)
    }

    public func update(_ record: ImportRecord, in scope: ScopeID, from state: ImportRecord.State) throws -> Bool {
        try sql.run(
            """
            UPDATE imports SET state = $4, done = $5, total = $6, preview = $7, report = $8, problem = $9,
                requested_by = $10, attempts = 0
            WHERE scope = $1 AND id = $2 AND state = $3
            """,
            [
                .scope(scope), .id(record.uniqueID), .text(state.rawValue), .text(record.state.rawValue),
                .integer(record.done), .integer(record.total), .text(record.preview), .text(record.report),
                .text(record.problem), .node(record.requestedBy),
            ]) > 0
    }

    public func setImportProgress(_ done: Int64, of total: Int64, _ id: UniqueID, in scope: ScopeID) throws {
        try sql.enqueue(
            "UPDATE imports SET done = $3, total = $4 WHERE scope = $1 AND id = $2",
            [.scope(scope), .id(id), .integer(done), .integer(total)])
    }

    public func setImportAttempts(_ count: Int64, of id: UniqueID, in scope: ScopeID) throws {
        try sql.enqueue(
            "UPDATE imports SET attempts = $3 WHERE scope = $1 AND id = $2",
            [.scope(scope), .id(id), .integer(count)])
    }

    public func deleteImport(_ id: UniqueID, in scope: ScopeID) throws -> Bool {
        try sql.run("DELETE FROM imports WHERE scope = $1 AND id = $2", [.scope(scope), .id(id)]) > 0
    }
}

extension StoredRow {
    fileprivate func importState(_ column: Int32) throws -> ImportRecord.State {
        guard let state = ImportRecord.State(rawValue: string(column)) else {
            throw StoreError.damaged("an import has an unknown state")
        }
        return state
    }

    fileprivate func importRecord() throws -> ImportRecord {
        var record = ImportRecord(
            uniqueID: try id(0), name: stringIfAny(1), byteCount: integer(2), creationDate: timestamp(3),
            requestedBy: try node(4), state: try importState(5))
        (record.done, record.total) = (integer(6), integer(7))
        (record.preview, record.report, record.problem) = (stringIfAny(8), stringIfAny(9), stringIfAny(10))
        record.attempts = integer(11)
        return record
    }
}
