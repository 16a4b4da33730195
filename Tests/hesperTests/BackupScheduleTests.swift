import HesperModel
import Testing

@testable import hesper

@Suite struct BackupScheduleTests {
    private let folder = TemporaryFolder()
    private let now = Timestamp(clamping: 1_800_000_000_000)

    @Test func intervalStartsAtTheLastBackup() {
        let schedule = BackupSchedule(data: "data", folder: "backups", every: 6 * Timestamp.hour)
        #expect(schedule.wait(after: nil, now: now) == 0)
        #expect(schedule.wait(after: now, now: now) == 6 * Timestamp.hour)
        #expect(schedule.wait(after: now.adding(-2 * Timestamp.hour), now: now) == 4 * Timestamp.hour)
        #expect(schedule.wait(after: now.adding(-6 * Timestamp.hour), now: now) == 0)
        #expect(schedule.wait(after: now.adding(-600 * Timestamp.hour), now: now) == 0)
        // A date in the future comes from a wrong clock.
        #expect(schedule.wait(after: now.adding(1), now: now) == 0)
    }

    @Test func settingsAreRead() throws {
        #expect(try Settings(environment: [:]).backupSchedule() == nil)
        let settings = try Settings(
            flags: [.backupKeep: ["30"]],
            environment: ["HESPER_BACKUP_TO": "/mnt/backup", "HESPER_BACKUP_EVERY": "12h"])
        #expect(
            try settings.backupSchedule()
                == BackupSchedule(data: "data", folder: "/mnt/backup", every: 12 * Timestamp.hour, keep: 30))
        let plain = try Settings(environment: ["HESPER_BACKUP_TO": "/mnt/backup"])
        #expect(
            try plain.backupSchedule()
                == BackupSchedule(data: "data", folder: "/mnt/backup", every: Timestamp.day, keep: 7))
        let file = try folder.write(#"{"backupTo": "/mnt/backup", "backupKeep": 2}"#, to: "settings.json")
        #expect(try Settings(config: file, environment: [:]).backupSchedule()?.keep == 2)
    }
}
