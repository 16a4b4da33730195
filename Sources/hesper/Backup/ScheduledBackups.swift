import Foundation
import HesperBlobs
import HesperModel
import HesperSQLite
import HesperServer
import HesperStore
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

/// Makes backups while the server runs. A backup is due one interval after the most recent complete backup in the folder, even if
/// the server was restarted in the meantime.
struct ScheduledBackups: Service {
    let schedule: BackupSchedule
    let installation: NodeID
    let blobs: any BlobStore
    let meter: BackupMeter
    let logger: Logger

    /// The maximum time between two checks of whether a backup is due. It is short, so that a change of the machine's clock is
    /// noticed soon.
    private static let checkInterval = Duration.seconds(60)
    private static let backoff = Backoff(first: .seconds(60), longest: .seconds(3_600))

    /// The date of the most recent complete backup; nil if there is none. `isKnown` is false at the start and after an error. The
    /// next check then reads the date from the folder.
    private struct State {
        var isKnown = false
        var last: Timestamp?
    }

    private let state = NIOLockedValueBox(State())

    private var series: BackupSeries { BackupSeries(path: schedule.folder, installation: installation) }

    init(
        schedule: BackupSchedule, installation: NodeID, blobs: any BlobStore, meter: BackupMeter, logger: Logger
    ) {
        self.schedule = schedule
        self.installation = installation
        self.blobs = blobs
        self.meter = meter
        var logger = logger
        logger[metadataKey: "folder"] = "\(schedule.folder)"
        self.logger = logger
    }

    func run() async throws {
        try await BackgroundLoop("Backup", backoff: ScheduledBackups.backoff, logger: logger, step: step).run()
    }

    /// Makes a backup if one is due.
    /// - Returns: the time until the next check.
    @Sendable private func step() async throws -> Duration {
        do {
            var state = state.withLockedValue { $0 }
            if !state.isKnown { state = State(isKnown: true, last: try await lastDate()) }
            if schedule.wait(after: state.last, now: .now) == 0 { state.last = try await make() }
            let known = state
            self.state.withLockedValue { $0 = known }
            return min(.milliseconds(schedule.wait(after: state.last, now: .now)), ScheduledBackups.checkInterval)
        } catch {
            state.withLockedValue { $0 = State() }
            guard !Task.isCancelled else { throw error }
            meter.fail()
            throw BackupFailed(reason: ScheduledBackups.text(error))
        }
    }

    /// The date of the most recent complete backup. Backups with a date in the future are ignored.
    private func lastDate() async throws -> Timestamp? {
        let last = try await series.entries().last { $0.date <= .now }?.date
        if let last { meter.complete(last) }
        return last
    }

    private func make() async throws -> Timestamp {
        // A separate store is opened, so that the server's own store can write during the copy.
        let store = try await onThread { [data = schedule.data] in try SQLiteStore(folder: URL(filePath: data)) }
        defer { try? store.close() }
        var report = BackupWork.Report()
        let backup = try await series.add { folder, earlier in
            let work = BackupWork(
                store: store, blobs: blobs, folder: folder, earlier: earlier, showsProgress: false)
            report = try await work.run()
            guard let manifest = report.manifest else { throw Failure("The backup has no manifest.") }
            return manifest
        }
        meter.complete(backup.date)
        for missing in report.missing {
            logger.error("Bytes of an attachment are missing in the backup", metadata: ["error": "\(missing)"])
        }
        logger.notice(
            "Backup complete",
            metadata: [
                "path": "\(backup.path)", "accounts": "\(report.accounts)", "attachments": "\(report.attachments)",
                "copied": "\(report.copied)",
            ])
        do {
            for old in try await series.removeAll(but: schedule.keep, newest: backup) {
                logger.notice("Old backup removed", metadata: ["path": "\(old.path)"])
            }
        } catch {
            logger.error(
                "Old backups could not be removed; retrying after the next backup",
                metadata: ["error": "\(ScheduledBackups.text(error))"])
        }
        return backup.date
    }

    private static func text(_ error: any Error) -> String {
        switch error {
        case is BackupInUse: "Another process is creating or removing a backup in this folder."
        case let foreign as BackupUnknownFile:
            "The unfinished backup contains a file that does not belong to it: \(foreign.name)"
        default: "\(error)"
        }
    }
}

/// The error for a failed backup. Its description is written to the log.
private struct BackupFailed: Error, CustomStringConvertible {
    let reason: String
    var description: String { reason }
}
