import Foundation
import HesperBlobs
import HesperModel
import HesperSQLite

/// Checks the scheduled backups: whether they can be made, and how old the most recent one is.
struct BackupDiagnosis {
    let settings: Settings

    /// The findings about scheduled backups. Invalid settings are not among them, because ``SettingsDiagnosis`` reports them.
    func all() async -> [Diagnosis] {
        guard let schedule = try? settings.backupSchedule() else { return [] }
        var found = FolderDiagnosis(path: schedule.folder, contents: "backups", isPrivate: false).all()
        guard !found.contains(where: { $0.kind == .wrong }) else { return found }
        if isOnSameDisk(schedule) {
            found.append(
                .warning(
                    "The backups in \(schedule.folder) are on the same disk as the data. A disk failure loses both. Set a folder on "
                        + "another disk with HESPER_BACKUP_TO."))
        }
        // Problems of the database are not reported here, because DataDiagnosis reports them.
        guard let overview = try? SQLiteOverview(folder: URL(filePath: schedule.data)),
            let installation = overview.installation
        else { return found }
        do {
            let entries = try await BackupSeries(path: schedule.folder, installation: installation).entries()
            return found + [age(of: entries, schedule)]
        } catch {
            return found + [.wrong("\(error)")]
        }
    }

    private func age(of entries: [BackupSeries.Entry], _ schedule: BackupSchedule) -> Diagnosis {
        guard let last = entries.last else {
            return .warning("\(schedule.folder) contains no complete backup. See the log of the server.")
        }
        guard last.date <= .now else {
            return .warning(
                "The date of the last backup, \(last.path), is in the future. The clock is wrong, or was wrong during that backup."
            )
        }
        guard last.date.adding(2 * schedule.every) >= .now else {
            return .warning(
                "The last complete backup, \(last.path), is overdue: a newer backup should exist by now. See the log of the server."
            )
        }
        return .ok("The last complete backup is \(last.path). Number of complete backups: \(entries.count).")
    }

    private func isOnSameDisk(_ schedule: BackupSchedule) -> Bool {
        var (data, backups) = (stat(), stat())
        return stat(schedule.data, &data) == 0 && stat(schedule.folder, &backups) == 0
            && data.st_dev == backups.st_dev
    }
}
