import HesperModel
import HesperStore

// MARK: - Having objects looked at

extension SQLiteTransaction {
    /// An object that is to be looked at sooner keeps its date.
    func scheduleSweep(of object: UniqueID, in scope: ScopeID, at date: Timestamp) throws {
        let schedule = try prepare(PushStatements.scheduleSweep)
        schedule.bind(1, scope)
        schedule.bind(2, object)
        schedule.bind(3, date.adding(Sweep.firstLook))
        try schedule.run()
    }

    func claimSweeps(dueBy date: Timestamp, limit: Int, until claim: Timestamp) throws -> [DueSweep] {
        let row = try prepare(
            "SELECT scope, object, looked_at FROM sweeps WHERE due_date <= ?1 ORDER BY due_date LIMIT ?2")
        row.bind(1, date)
        row.bind(2, max(limit, 0))
        let due = try row.all {
            DueSweep(
                scope: ScopeID(row.integer(0)), object: try row.id(1), position: row.integer(2), claim: claim)
        }
        let update = try prepare("UPDATE sweeps SET due_date = ?3 WHERE scope = ?1 AND object = ?2")
        update.bind(3, claim)
        for sweep in due {
            update.bind(sweep)
            try update.run()
        }
        return due
    }

    func end(_ sweep: DueSweep, next: Timestamp?) throws {
        let update = try prepare(
            """
            UPDATE sweeps SET due_date = CASE WHEN due_date = ?3 THEN ?4 ELSE min(due_date, coalesce(?4, due_date)) END
            WHERE scope = ?1 AND object = ?2
            """)
        update.bind(sweep)
        update.bind(3, sweep.claim)
        update.bind(4, next)
        try update.run()
    }

    func forget(_ sweep: DueSweep) throws {
        let delete = try prepare("DELETE FROM sweeps WHERE scope = ?1 AND object = ?2 AND due_date = ?3")
        delete.bind(sweep)
        delete.bind(3, sweep.claim)
        try delete.run()
    }
}

// MARK: - Edits

extension SQLiteTransaction {
    func keep(_ edit: SweptEdit, of sweep: DueSweep) throws {
        let look = try prepare("UPDATE sweeps SET looked_at = ?3 WHERE scope = ?1 AND object = ?2")
        look.bind(sweep)
        look.bind(3, edit.position)
        // The account may have gone meanwhile.
        guard try look.run() > 0 else { return }
        let insert = try prepare(
            """
            INSERT OR IGNORE INTO versions (scope, object, edit, attribute, clock, pushed_at, sequence)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """)
        insert.bind(sweep)
        insert.bind(3, edit.position)
        for stored in edit.versions {
            insert.bind(4, stored.attribute.description)
            insert.bind(5, stored.version.clock)
            insert.bind(6, stored.version.pushedAt)
            insert.bind(7, stored.version.sequence)
            try insert.run()
        }
    }

    func drop(_ values: SweptEdit, of sweep: DueSweep) throws {
        let row = try prepare(
            "SELECT \(ParcelChecksum.columns) FROM edits WHERE scope = ?1 AND object = ?2 AND number = ?3")
        row.bind(sweep)
        row.bind(3, values.position)
        let found = try row.first {
            let bytes = row.bytes(3)
            let body = ParcelBody.write(values.dropped(from: try ParcelBody.read(bytes)))
            return (body: body, added: body.count - bytes.count, checksum: row.parcelChecksum(with: body))
        }
        guard let found else { return }
        let update = try prepare("UPDATE edits SET body = ?2, checksum = ?3 WHERE number = ?1")
        update.bind(1, values.position)
        update.bind(2, text: found.body)
        update.bind(3, found.checksum)
        try update.run()
        try addParcelBytes(found.added, to: sweep.scope)
        let delete = try prepare(
            "DELETE FROM versions WHERE scope = ?1 AND object = ?2 AND edit = ?3 AND attribute = ?4")
        delete.bind(sweep)
        delete.bind(3, values.position)
        for attribute in Set(values.versions.map(\.attribute)) {
            delete.bind(4, attribute.description)
            try delete.run()
        }
    }

    func purge(editAt position: Int64, of sweep: DueSweep) throws {
        let row = try prepare(
            "SELECT length(CAST(body AS BLOB)) FROM edits WHERE scope = ?1 AND object = ?2 AND number = ?3")
        row.bind(sweep)
        row.bind(3, position)
        try addParcelBytes(-(try row.first { row.int(0) } ?? 0), to: sweep.scope)
        for sql in [
            "DELETE FROM edits WHERE scope = ?1 AND object = ?2 AND number = ?3",
            "DELETE FROM versions WHERE scope = ?1 AND object = ?2 AND edit = ?3",
        ] {
            let delete = try prepare(sql)
            delete.bind(sweep)
            delete.bind(3, position)
            try delete.run()
        }
    }

    private func addParcelBytes(_ count: Int, to scope: ScopeID) throws {
        let update = try prepare("UPDATE scopes SET parcel_bytes = parcel_bytes + ?2 WHERE id = ?1")
        update.bind(1, scope)
        update.bind(2, count)
        try update.run()
    }
}

extension Prepared {
    /// As the first two parameters: scope and object.
    fileprivate func bind(_ sweep: DueSweep) {
        bind(1, sweep.scope)
        bind(2, sweep.object)
    }
}
