import ArgumentParser
import HesperBlobs
import HesperSQLite
import HesperStore

extension BackupCommand {
    /// The command `hesper backup create FOLDER`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create or update a backup of the whole installation. May run while hesper serve runs.",
            discussion: """
                The backup contains the installation at one moment: the database, and the data of all attachments, named by \
                SHA-256. Data that the folder already contains is not copied again. The previous backup stays valid until the \
                new one is complete. If the command is interrupted, run it again to continue.

                If the data of attachments is missing or damaged in the installation, everything else is backed up, and the \
                exit status is 1.

                A backup contains all notes in readable form. Protect it like the data folder.
                """)

        @Argument(help: "The folder of the backup: a new folder, or an existing backup to update.") var folder: String
        @OptionGroup var dataOptions: DataOptions

        func run() async throws {
            let settings = try dataOptions.settings()
            guard case .sqlite(let data) = try settings.database() else {
                throw Failure(
                    "hesper backup works only with SQLite. For PostgreSQL use pg_dump, as described in docs/operating.md (Backup).",
                    .usage)
            }
            try DatabaseLocation.checkFile(in: data, toName: "set the data folder with --data or HESPER_DATA")
            if let overlap = try DataFolders(settings, database: data).overlap(with: folder) {
                throw Failure("\(overlap). Name another folder for the backup.", .usage)
            }
            let store = try SQLiteStore(folder: .init(filePath: data))
            do {
                let report = try await backUp(store, try await settings.openBlobs())
                try? store.close()
                for missing in report.missing { Terminal.printError(missing) }
                Terminal.printLine(report.description(of: folder))
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
                    "\(folder.path) is in use by another hesper backup or hesper restore.")
            } catch let foreign as BackupUnknownFile {
                throw Failure(
                    "\(folder.path) contains a file that does not belong to a backup, \(foreign.name). Name an empty or new folder.",
                    .usage)
            }
        }
    }
}
