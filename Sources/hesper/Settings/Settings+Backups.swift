import HesperModel

/// The schedule of the backups that the server makes.
struct BackupSchedule: Equatable, Sendable {
    /// The folder of the database to back up.
    let data: String
    /// The folder in which the backups are stored.
    let folder: String
    /// The interval between two backups, in milliseconds.
    var every = Timestamp.day
    /// The number of complete backups to keep.
    var keep = 7

    /// The time until the next backup, in milliseconds; 0 if a backup is due.
    /// - Parameter last: the date of the most recent complete backup; nil if there is none. A date in the future is ignored,
    ///   because it shows that a clock was wrong.
    func wait(after last: Timestamp?, now: Timestamp) -> Int64 {
        guard let last, last <= now else { return 0 }
        return max(last.milliseconds + every - now.milliseconds, 0)
    }
}

extension Settings {
    /// The schedule of backups. Nil if no backups are scheduled.
    func backupSchedule() throws -> BackupSchedule? {
        let every = try reader.string(.backupEvery)
        let keep = try reader.integer(.backupKeep)
        guard let found = try reader.string(.backupTo) else {
            let reason = "scheduled backups require a folder. Set \(Setting.backupTo.flag) too."
            if let every { throw every.failure(reason) }
            if let keep { throw keep.failure(reason) }
            return nil
        }
        guard case .sqlite(let data) = try database() else {
            throw found.failure(
                "scheduled backups work only with SQLite. For PostgreSQL see docs/operating.md (Backing PostgreSQL up)."
            )
        }
        if let overlap = try DataFolders(self, database: data).overlap(with: found.value) {
            throw found.failure("\(overlap). Set another folder for backups.")
        }
        var schedule = BackupSchedule(data: data, folder: found.value)
        if let every {
            guard let period = Period(every.value) else {
                throw every.failure("must be \(Period.form), not \"\(every.value)\".")
            }
            schedule.every = period.milliseconds
        }
        if let keep { schedule.keep = keep.value }
        return schedule
    }
}
