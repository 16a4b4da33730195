import HesperModel

/// The schedule of backups made by the server.
struct BackupSchedule: Equatable, Sendable {
    /// The folder of the database.
    let data: String
    /// The folder of the backups.
    let folder: String
    /// The interval in milliseconds.
    var every = Timestamp.day
    /// The number of complete backups to keep.
    var keep = 7

    /// - Parameter last: the date of the last complete backup.
    /// - Returns: the time until the next backup in milliseconds, or 0 if it is due. A last date in the future was set by a wrong
    ///   clock and is ignored.
    func wait(after last: Timestamp?, now: Timestamp) -> Int64 {
        guard let last, last <= now else { return 0 }
        return max(last.milliseconds + every - now.milliseconds, 0)
    }
}

extension Settings {
    /// The schedule of backups. Nil if none are scheduled.
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
