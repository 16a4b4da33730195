import Foundation
import HesperBlobs
import HesperModel
import HesperSQLite
import HesperServer
import HesperStore
import Logging
import ServiceLifecycle

/// Makes backups while the server runs. The period counts from the last complete backup in the folder, however often the server
/// starts meanwhile.
struct ScheduledBackups: Service {
    let schedule: BackupSchedule
    let installation: NodeID
    let blobs: any BlobStore
    let meter: BackupMeter
    let logger: Logger

    /// How often the clock is looked at: it may be set.
    private static let look = Duration.seconds(60)
    private static let firstRetry = Duration.seconds(60)
    private static let longestRetry = Duration.seconds(3_600)

    private var series: BackupSeries { BackupSeries(path: schedule.folder, installation: installation) }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var last: Timestamp?
            var isKnown = false
            var retry = ScheduledBackups.firstRetry
            while !Task.isCancelled {
                do {
                    if !isKnown {
                        last = try await lastDate()
                        isKnown = true
                    }
                    let wait = Duration.milliseconds(schedule.wait(after: last, now: .now))
                    if wait > .zero {
                        try await Task.sleep(for: min(wait, ScheduledBackups.look))
                    } else {
                        last = try await make()
                        retry = ScheduledBackups.firstRetry
                    }
                } catch {
                    guard !Task.isCancelled else { return }
                    meter.fail()
                    logger.error(
                        "Backup failed; retrying",
                        metadata: [
                            "error": "\(ScheduledBackups.text(error))", "folder": "\(schedule.folder)",
                            "after": "\(retry.components.seconds) s",
                        ])
                    try? await Task.sleep(for: retry)
                    retry = min(retry * 2, ScheduledBackups.longestRetry)
                    isKnown = false
                }
            }
        }
    }

    /// The date of the last complete backup that is not in the future.
    private func lastDate() async throws -> Timestamp? {
        let last = try await series.entries().last { $0.date <= .now }?.date
        if let last { meter.complete(last) }
        return last
    }

    private func make() async throws -> Timestamp {
        // A store of its own: the one that serves goes on writing while this one is read.
        let store = try await onThread { [data = schedule.data] in try SQLiteStore(folder: URL(filePath: data)) }
        defer { try? store.close() }
        var report = BackupWork.Report()
        let made = try await series.add { folder, earlier in
            let work = BackupWork(
                store: store, blobs: blobs, folder: folder, earlier: earlier, showsProgress: false)
            report = try await work.run()
            guard let manifest = report.manifest else { throw Failure("The backup has no manifest.") }
            return manifest
        }
        meter.complete(made.date)
        for missing in report.missing {
            logger.error("Bytes of an attachment are missing in the backup", metadata: ["error": "\(missing)"])
        }
        logger.notice(
            "Backup complete",
            metadata: [
                "path": "\(made.path)", "accounts": "\(report.accounts)", "attachments": "\(report.attachments)",
                "copied": "\(report.copied)",
            ])
        do {
            for old in try await series.removeAll(but: schedule.keep, newest: made) {
                logger.notice("Old backup removed", metadata: ["path": "\(old.path)"])
            }
        } catch {
            logger.error(
                "Old backups could not be removed; retrying after the next backup",
                metadata: ["error": "\(ScheduledBackups.text(error))"])
        }
        return made.date
    }

    private static func text(_ error: any Error) -> String {
        switch error {
        case is BackupInUse: "Another process is creating or removing a backup in this folder."
        case let foreign as BackupForeign:
            "The unfinished backup contains a file that does not belong to it: \(foreign.name)"
        default: "\(error)"
        }
    }
}
