import HesperModel
import HesperStore

extension SQLSnapshot {
    public func hasSweeps(dueBy date: Timestamp, uploadsBefore uploads: Timestamp) throws -> Bool {
        try sql.first(
            """
            SELECT EXISTS (SELECT 1 FROM sweeps WHERE due_date <= $1)
                OR EXISTS (SELECT 1 FROM removed_blobs WHERE scope > 0)
                OR EXISTS (SELECT 1 FROM uploads WHERE creation_date < $2)
            """, [.date(date), .date(uploads)]
        ) { $0.bool(0) } ?? false
    }

    /// Returns the rows of `versions` for an object. To find the texts that lost words in a merge, the query reads an index instead
    /// of the large rows of `edits`.
    public func versions(of object: UniqueID, in scope: ScopeID) throws -> [StoredVersion] {
        try sql.all(
            """
            SELECT edit, attribute, clock, pushed_at, sequence, edit IN (
                SELECT number FROM edits\(sql.dialect.index("edits_lost_words"))
                WHERE scope = $1 AND object = $2 AND \(sql.dialect.isTrue("has_lost_words")))
            FROM versions WHERE scope = $1 AND object = $2
            """, [.scope(scope), .id(object)]
        ) { row in
            guard let attribute = Attribute(row.string(1)), let clock = row.clockIfAny(2) else {
                throw StoreError.damaged("the table versions has a row of \(object) that cannot be read")
            }
            return StoredVersion(
                attribute,
                Thinning.Version(
                    clock: clock, pushedAt: row.timestamp(3), position: row.integer(0), sequence: row.integer(4),
                    hasLostWords: attribute.isText && row.bool(5)))
        }
    }

    public func devices(of scope: ScopeID, usedSince date: Timestamp) throws -> [Thinning.Device] {
        try sql.all(
            """
            SELECT d.node, d.read_sequence, coalesce(d.read_date, d.last_use_date), d.last_use_date
            FROM memberships m JOIN devices d ON d.account = m.account WHERE m.scope = $1 AND d.last_use_date >= $2
            """, [.scope(scope), .date(date)]
        ) { row in
            Thinning.Device(
                node: try row.node(0), readSequence: row.integerIfAny(1), readDate: row.timestamp(2),
                lastUseDate: row.timestamp(3))
        }
    }

    public func arrivalDate(ofDeleted id: UniqueID, in scope: ScopeID) throws -> Timestamp? {
        try sql.first(
            "SELECT arrival_date FROM tombstones WHERE scope = $1 AND id = $2", [.scope(scope), .id(id)]
        ) { $0.timestamp(0) }
    }

    public func positions(
        of object: UniqueID, in scope: ScopeID, pushedUntil date: Timestamp, limit: Int
    ) throws -> [Int64] {
        try sql.all(
            "SELECT number FROM edits WHERE scope = $1 AND object = $2 AND pushed_at <= $3 LIMIT $4",
            [.scope(scope), .id(object), .date(date), .int(max(limit, 1))]
        ) { $0.integer(0) }
    }

    public func firstArrival(of object: UniqueID, in scope: ScopeID) throws -> Timestamp? {
        try sql.first(
            "SELECT min(pushed_at) FROM edits WHERE scope = $1 AND object = $2", [.scope(scope), .id(object)]
        ) { $0.timestampIfAny(0) }
    }
}

// MARK: - Scheduling

extension SQLTransaction {
    /// Reads the sweeps that are due, beginning with the sweep that has been due for the longest time. If the database has row
    /// locks, the rows are locked, and rows that another transaction has locked are skipped.
    /// - Parameter claim: the date at which the caller's claim of these sweeps expires. It is only copied to the results.
    public func dueSweeps(by date: Timestamp, limit: Int, until claim: Timestamp) throws -> [DueSweep] {
        try sql.all(
            """
            SELECT scope, object, looked_at FROM sweeps WHERE due_date <= $1 ORDER BY due_date LIMIT $2
            \(sql.dialect.skipsLocked)
            """, [.date(date), .limit(limit)]
        ) { row in
            DueSweep(scope: row.scope(0), object: try row.id(1), position: row.integer(2), claim: claim)
        }
    }

    public func reschedule(_ sweep: DueSweep, next: Timestamp?) throws {
        guard try lockRow(of: sweep.scope) else { return }
        try sql.enqueue(
            """
            UPDATE sweeps SET due_date =
                CASE WHEN due_date = $3 OR due_date IS NULL OR due_date > $4 THEN $4 ELSE due_date END
            WHERE scope = $1 AND object = $2
            """, sweep.key + [.date(sweep.claim), .date(next)])
    }

    public func finish(_ sweep: DueSweep) throws {
        guard try lockRow(of: sweep.scope) else { return }
        try sql.enqueue(
            "DELETE FROM sweeps WHERE scope = $1 AND object = $2 AND due_date = $3", sweep.key + [.date(sweep.claim)])
    }
}

// MARK: - Edits

extension SQLTransaction {
    public func drop(_ values: SweptEdit, of sweep: DueSweep) throws {
        guard try lockRow(of: sweep.scope) else { return }
        let edit = sweep.key + [.integer(values.position)]
        let changed = try sql.first(
            "SELECT \(ParcelChecksum.columns) FROM edits WHERE scope = $1 AND object = $2 AND number = $3", edit
        ) { row in
            let bytes = row.bytes(3)
            let body = ParcelBody.write(values.dropped(from: try ParcelBody.read(bytes)))
            return (body: body, added: body.count - bytes.count, checksum: row.parcelChecksum(with: body))
        }
        guard let changed else { return }
        try sql.enqueue(
            "UPDATE edits SET body = $3, checksum = $4 WHERE scope = $1 AND number = $2",
            [.scope(sweep.scope), .integer(values.position), .json(changed.body), .integer(changed.checksum)],
            expecting: 1)
        try sql.enqueue(
            "UPDATE scopes SET parcel_bytes = parcel_bytes + $2 WHERE id = $1",
            [.scope(sweep.scope), .int(changed.added)], expecting: 1)
        for attribute in Set(values.versions.map(\.attribute)) {
            try sql.enqueue(
                "DELETE FROM versions WHERE scope = $1 AND object = $2 AND edit = $3 AND attribute = $4",
                edit + [.text(attribute.description)])
        }
    }

    public func purge(editAt position: Int64, of sweep: DueSweep) throws {
        guard try lockRow(of: sweep.scope) else { return }
        for statement in [
            """
            UPDATE scopes SET parcel_bytes = parcel_bytes - coalesce(
                (SELECT \(sql.dialect.bodyBytes) FROM edits WHERE scope = $1 AND object = $2 AND number = $3), 0)
            WHERE id = $1
            """,
            "DELETE FROM edits WHERE scope = $1 AND object = $2 AND number = $3",
            "DELETE FROM versions WHERE scope = $1 AND object = $2 AND edit = $3",
        ] { try sql.enqueue(statement, sweep.key + [.integer(position)]) }
    }
}

extension DueSweep {
    /// The parameters `$1` and `$2` of a statement about the swept object: its scope and its ID.
    fileprivate var key: [SQLValue] { [.scope(scope), .id(object)] }
}
