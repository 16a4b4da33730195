import HesperModel

/// When the server makes backups, and where.
struct BackupSchedule: Equatable, Sendable {
    /// The folder of the database.
    let data: String
    /// The folder of the backups.
    let folder: String
    /// From one backup to the next, in milliseconds.
    var every = Timestamp.day
    /// How many complete backups stay.
    var keep = 7

    /// - Parameter last: the date of the last complete backup, by the clock of then.
    /// - Returns: how long it is until the next one, in milliseconds; 0 if it is due. A last one that is to come is of a clock
    ///   that was wrong, and counts for nothing.
    func wait(after last: Timestamp?, now: Timestamp) -> Int64 {
        guard let last, last <= now else { return 0 }
        return max(last.milliseconds + every - now.milliseconds, 0)
    }
}

extension Settings {
    /// When the server makes backups; nil if it makes none.
    func backupSchedule() throws -> BackupSchedule? {
        let every = try reader.string(.backupEvery)
        let keep = try reader.integer(.backupKeep)
        guard let found = try reader.string(.backupTo) else {
            let needed = "scheduled backups need a folder: set \(Setting.backupTo.flag) too."
            if let every { throw every.wrong(needed) }
            if let keep { throw keep.wrong(needed) }
            return nil
        }
        guard case .sqlite(let data) = try database() else {
            throw found.wrong(
                "scheduled backups are for SQLite. Use pg_basebackup or pg_dump; docs/operating.md says how (Backing PostgreSQL up)."
            )
        }
        if let overlap = try DataFolders(self, database: data).overlap(with: found.value) {
            throw found.wrong("\(overlap): name another folder for backups.")
        }
        var schedule = BackupSchedule(data: data, folder: found.value)
        if let every {
            guard let period = Period(every.value) else {
                throw every.wrong("\(Period.wanted), not \"\(every.value)\".")
            }
            schedule.every = period.milliseconds
        }
        if let keep { schedule.keep = keep.value }
        return schedule
    }
}
