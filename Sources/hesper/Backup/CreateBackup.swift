import ArgumentParser
import HesperBlobs
import HesperSQLite
import HesperStore

extension BackupCommand {
    /// `hesper backup create FOLDER`
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a backup of everything, also while serving, or bring one up to date.",
            discussion: """
                Afterwards the folder holds the installation at one moment: the database, and the bytes of all \
                attachments, named by their SHA-256. Bytes that are in the folder already are not copied again. Until the \
                new backup is complete, the folder holds the previous one. If the command is interrupted, run it again: it \
                continues.

                The exit status is also 1 if bytes of attachments are missing or damaged in the installation itself; \
                everything else is backed up.

                A backup lets its reader read every note: protect it like the data.
                """)

        @Argument(help: "The folder of the backup: a new one, or that of an earlier backup.") var folder: String
        @OptionGroup var dataOptions: DataOptions

        func run() async throws {
            let settings = try dataOptions.settings()
            guard case .sqlite(let data) = try settings.database() else {
                throw Failure(
                    "hesper backup is for SQLite. PostgreSQL has pg_dump, and docs/operating.md says how to use it (Backup).",
                    .usage)
            }
            try DatabaseLocation.checkFile(in: data, toName: "name the data folder with --data or HESPER_DATA")
            if let overlap = try DataFolders(settings, database: data).overlap(with: folder) {
                throw Failure("\(overlap): name another folder for the backup.", .usage)
            }
            let store = try SQLiteStore(folder: .init(filePath: data))
            do {
                let report = try await backUp(store, try await settings.openBlobs())
                try? store.close()
                for missing in report.missing { Terminal.complain(missing) }
                Terminal.say(report.description(of: folder))
                if !report.missing.isEmpty { throw ExitCode(Failure.Kind.failed.rawValue) }
            } catch {
                try? store.close()
                throw error
            }
        }

        private func backUp(_ store: SQLiteStore, _ blobs: any BlobStore) async throws -> BackupWork.Report {
            let folder = BackupFolder(path: folder)
            do {
                return try await folder.whileLocked {
                    try await BackupWork(store: store, blobs: blobs, folder: folder).run()
                }
            } catch is BackupInUse {
                throw Failure(
                    "\(folder.path) is in use: another hesper backup writes to it, or hesper restore reads it.")
            } catch let foreign as BackupForeign {
                throw Failure(
                    "\(folder.path) has something that is no part of a backup, \(foreign.name): name an empty folder, or a new one.",
                    .usage)
            }
        }
    }
}
