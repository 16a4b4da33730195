import ArgumentParser
import HesperBlobs
import HesperModel

extension BackupCommand {
    /// The command `hesper backup verify FOLDER`.
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Verify a backup and report all damage. Changes nothing.",
            discussion: """
                Compares the database and all attachments with their SHA-256, runs SQLite's integrity check, and compares all \
                objects with their edits, as hesper check does. Findings are printed to stdout, one per line. The exit status is \
                1 if there are any. Use hesper restore --salvage to restore everything that is not damaged.
                """)

        @Argument(help: "The folder of the backup.") var folder: String

        func run() async throws {
            let backup = BackupFolder(path: folder)
            do {
                let manifest = try backup.completeManifest()
                let report = try await backup.whileLocked(shared: true) {
                    try await VerifyWork(folder: backup, manifest: manifest) { Terminal.printLine($0) }.run()
                }
                if !report.isFolded {
                    Terminal.printLine(
                        "The database was written by an earlier version of Hesper. Its edits were not checked. Run hesper check "
                            + "after a restore.")
                }
                let read = "\(counted(report.accounts, "account")) and \(counted(report.attachments, "attachment"))"
                let verified = "Verified \(read) in the backup of \(manifest.date)"
                guard report.findings == 0 else {
                    Terminal.printLine("\(verified): \(counted(report.findings, "finding")).")
                    throw ExitCode(Failure.Kind.failed.rawValue)
                }
                Terminal.printLine("\(verified): no problems found.")
            } catch is BackupInUse {
                throw Failure("\(folder) is in use by hesper backup.")
            } catch let damaged as BackupDamaged {
                throw Failure(damaged.message)
            }
        }
    }
}

extension BackupFolder {
    /// The manifest of a complete backup.
    /// - Throws: ``Failure`` if the folder contains no complete backup; ``BackupDamaged`` if the manifest is damaged.
    func completeManifest() throws -> BackupManifest {
        guard let manifest = try manifest() else {
            let hint = try BackupSeries.latest(in: path).map { " Name one of the backups in it, such as \($0)." } ?? ""
            throw Failure("\(path) contains no complete backup (no \(BackupFolder.manifestName)).\(hint)")
        }
        return manifest
    }
}
