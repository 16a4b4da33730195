import HesperModel
import HesperSQL
import HesperStore

// MARK: - Scheduling

extension SQLiteTransaction {
    /// Schedules a sweep of an object that was changed at `date`, unless an earlier sweep is scheduled already.
    func scheduleSweep(of object: UniqueID, in scope: ScopeID, at date: Timestamp) throws {
        let schedule = try prepare(PushStatements.scheduleSweep)
        schedule.bind(scope, object, date.adding(Sweep.firstCheckDelay))
        try schedule.run()
    }

    func claimSweeps(dueBy date: Timestamp, limit: Int, until claim: Timestamp) throws -> [DueSweep] {
        let due = try dueSweeps(by: date, limit: limit, until: claim)
        for sweep in due {
            try sql.enqueue(
                "UPDATE sweeps SET due_date = $3 WHERE scope = $1 AND object = $2",
                [.scope(sweep.scope), .id(sweep.object), .date(claim)])
        }
        return due
    }
}

// MARK: - Edits

extension SQLiteTransaction {
    func record(_ edit: SweptEdit, of sweep: DueSweep) throws {
        let key: [SQLValue] = [.scope(sweep.scope), .id(sweep.object), .integer(edit.position)]
        // If the account was deleted after the sweep began, there is no row to update.
        guard try sql.run("UPDATE sweeps SET looked_at = $3 WHERE scope = $1 AND object = $2", key) > 0 else { return }
        for stored in edit.versions {
            let version = stored.version
            try sql.enqueue(
                """
                INSERT INTO versions (scope, object, edit, attribute, clock, pushed_at, sequence)
                VALUES ($1, $2, $3, $4, $5, $6, $7)
                ON CONFLICT DO NOTHING
                """,
                key + [
                    .text(stored.attribute.description), .clock(version.clock), .date(version.pushedAt),
                    .integer(version.sequence),
                ])
        }
    }
}
