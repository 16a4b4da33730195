import ArgumentParser
import HesperBlobs
import HesperSQLite
import HesperServer
import HesperStore

/// `hesper restore FOLDER`
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a backup back, into a data folder that is empty.",
        discussion: """
            Every byte is compared with its SHA-256. A new epoch begins: devices sign in again, keep what they hold, and \
            give back what the backup lacks; nothing that a device holds is lost.

            A backup that is damaged is refused, and nothing of it stays in the data folder. If the command is \
            interrupted, run it again: it continues, and until it is done nothing serves the data.

            With --salvage, all of a damaged backup that can be read is restored. What cannot be read is listed, and devices \
            that have it give it back. The exit status is 1 if anything is missing.

            Only a settings file, hesper.json, may be in the data folder already.
            """)

    @Argument(help: "The folder of the backup.") var folder: String
    @Flag(help: "Restore everything that is not damaged, and list what is.") var salvage = false
    @OptionGroup var dataOptions: DataOptions

    func run() async throws {
        let settings = try dataOptions.settings()
        guard case .sqlite(let data) = try settings.database() else {
            throw Failure(
                "hesper restore is for SQLite: docs/operating.md says how to put a dump of PostgreSQL back (Backup).",
                .usage)
        }
        guard RealPath(folder) != RealPath(data) else {
            throw Failure("\(folder) is the backup: name another folder for the data.", .usage)
        }
        if let overlap = try DataFolders(settings, database: data).overlap(with: folder) {
            throw Failure("\(overlap): keep the backup and the data apart.", .usage)
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
                Terminal.complain("\(name) is not in the backup: it was lost or damaged before.")
            }
            for lost in report.lost { Terminal.complain(lost) }
            let date = manifest.map { " of \($0.date)" } ?? ""
            Terminal.say(
                "Restored \(count(report.accounts, "account")) and \(count(report.attachments, "attachment"))\(date) "
                    + "to \(data). Every device signs in again, and gives back what is missing here.")
            if !report.missing.isEmpty || !report.lost.isEmpty { throw ExitCode(Failure.Kind.failed.rawValue) }
        } catch is BackupInUse {
            throw Failure("\(folder) is in use: hesper backup writes to it.")
        } catch let damaged as BackupDamaged {
            let hint = salvage ? "" : " hesper restore --salvage restores what is not damaged."
            throw Failure("\(damaged.message) The backup is damaged: nothing was restored.\(hint)")
        }
    }

    /// - Returns: nil if it cannot be read, and need not be.
    private func manifest(of backup: BackupFolder) throws -> BackupManifest? {
        do {
            return try backup.completeManifest()
        } catch  where salvage {
            Terminal.complain("\((error as? BackupDamaged)?.message ?? "\(error)") The newest database is taken.")
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
            throw Failure("Another hesper restore is at work on \(data).")
        } catch RestoreRefusal.notEmpty(let name) {
            throw Failure("\(data) is not empty, it has \(name): restore into an empty folder.")
        }
    }
}
