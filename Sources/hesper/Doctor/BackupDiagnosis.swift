import Foundation
import HesperBlobs
import HesperModel
import HesperSQLite

/// The backups that the server makes: whether it can, and how old the last one is.
struct BackupDiagnosis {
    let settings: Settings

    /// What is wrong with the settings themselves ``SettingsDiagnosis`` says.
    func all() async -> [Diagnosis] {
        guard let schedule = try? settings.backupSchedule() else { return [] }
        var found = FolderDiagnosis(path: schedule.folder, what: "backups", isPrivate: false).all()
        guard !found.contains(where: { $0.kind == .wrong }) else { return found }
        if isOnOneDisk(schedule) {
            found.append(
                .warning(
                    "The backups in \(schedule.folder) are on the disk of the data: one failure loses both. Name a folder on "
                        + "another disk with HESPER_BACKUP_TO."))
        }
        // What is wrong with the database DataDiagnosis says.
        guard let look = try? SQLiteOverview(folder: URL(filePath: schedule.data)), let installation = look.installation
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
            return .warning("There is no complete backup in \(schedule.folder): the log of the server says why.")
        }
        guard last.date <= .now else {
            return .warning(
                "The last backup, \(last.path), is dated in the future: the clock is wrong, or was when the backup was made."
            )
        }
        guard last.date.adding(2 * schedule.every) >= .now else {
            return .warning(
                "The last complete backup is \(last.path): the log of the server says why there is no newer one.")
        }
        return .ok("The last complete backup is \(last.path), one of \(entries.count).")
    }

    private func isOnOneDisk(_ schedule: BackupSchedule) -> Bool {
        var (data, backups) = (stat(), stat())
        return stat(schedule.data, &data) == 0 && stat(schedule.folder, &backups) == 0
            && data.st_dev == backups.st_dev
    }
}
