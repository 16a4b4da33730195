import ArgumentParser
import HesperBlobs
import HesperModel
import HesperSQLite
import HesperServer
import HesperStore

/// The command `hesper restore FOLDER`.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a backup into an empty data folder.",
        discussion: """
            All data is compared with its SHA-256. The restored database starts a new epoch: devices must sign in again, and \
            then upload everything that the backup does not contain. Nothing that a device stores is lost.

            A damaged backup is refused, and nothing of it stays in the data folder. If the command is interrupted, run it \
            again to continue. Until it is complete, hesper serve does not start on the data folder.

            With --salvage, everything readable in a damaged backup is restored. The rest is listed, and devices that have it \
            upload it again. The exit status is 1 if anything is missing.

            The data folder may contain a settings file, hesper.json.
            """)

    @Argument(help: "The folder of the backup.") var folder: String
    @Flag(help: "Restore everything that is not damaged, and list the rest.") var salvage = false
    @OptionGroup var dataOptions: DataOptions

    func run() async throws {
        let settings = try dataOptions.settings()
        guard case .sqlite(let data) = try settings.database() else {
            throw Failure(
                "hesper restore works only with SQLite. To restore a dump of PostgreSQL, see docs/operating.md (Backup).",
                .usage)
        }
        guard RealPath(folder) != RealPath(data) else {
            throw Failure("\(folder) is the folder of the backup. Set another data folder.", .usage)
        }
        if let overlap = try DataFolders(settings, database: data).overlap(with: folder) {
            throw Failure("\(overlap). The backup and the data must be in separate folders.", .usage)
        }
        let backup = BackupFolder(path: folder)
        do {
            let manifest = try manifest(of: backup)
            let salvage = try salvage ? salvage(settings) : nil
            let report = try await backup.whileLocked(shared: true) {
                let target = try target(data)
                return try await RestoreWork(
                    folder: backup, manifest: manifest, blobs: try await openBlobs(settings, target), target: target,
                    salvage: salvage
                ).run()
            }
            for name in report.missing {
                Terminal.printError(
                    "\(name) is not in the backup because it was already missing or damaged in the installation.")
            }
            for lost in report.lost { Terminal.printError(lost) }
            let date = manifest.map { " of \($0.date)" } ?? ""
            Terminal.printLine(
                "Restored \(counted(report.accounts, "account")) and \(counted(report.attachments, "attachment"))\(date) "
                    + "to \(data). All devices must sign in again. They then upload data that is missing here.")
            if !report.missing.isEmpty || !report.lost.isEmpty { throw ExitCode(Failure.Kind.failed.rawValue) }
        } catch is BackupInUse {
            throw Failure("\(folder) is in use by hesper backup.")
        } catch let damaged as BackupDamaged {
            let hint = salvage ? "" : " Use hesper restore --salvage to restore everything that is not damaged."
            throw Failure("\(damaged.message) The backup is damaged. Nothing was restored.\(hint)")
        }
    }

    /// Reads the manifest of the backup.
    /// - Returns: nil if the manifest cannot be read and `--salvage` is set. Without `--salvage`, an error is thrown instead.
    private func manifest(of backup: BackupFolder) throws -> BackupManifest? {
        do {
            return try backup.completeManifest()
        } catch  where salvage {
            let reason = (error as? BackupDamaged)?.message ?? "\(error)"
            Terminal.printError("\(reason) Using the newest database in the backup.")
            _ = try backup.newestDatabase()
            return nil
        }
    }

    private func salvage(_ settings: Settings) throws -> RestoreWork.Salvage {
        let password = OneTimeCode.random().text
        return RestoreWork.Salvage(passwordHash: try PasswordHash.make(password, cost: try settings.passwordCost()))
    }

    private func openBlobs(_ settings: Settings, _ target: RestoredFolder) async throws -> any BlobStore {
        do {
            return try await settings.openBlobs()
        } catch {
            try target.discard()
            throw error
        }
    }

    private func target(_ data: String) throws -> RestoredFolder {
        do {
            return try RestoredFolder(path: data, database: SQLiteStore.fileName, settings: Settings.fileName)
        } catch RestoreRefusal.inUse {
            throw Failure("Another hesper restore is running in \(data).")
        } catch RestoreRefusal.notEmpty(let name) {
            throw Failure("\(data) is not empty. It contains \(name). Restore into an empty folder.")
        }
    }
}
