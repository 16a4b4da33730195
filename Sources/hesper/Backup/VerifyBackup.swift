import ArgumentParser
import HesperBlobs

extension BackupCommand {
    /// `hesper backup verify FOLDER`
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Read a whole backup and report all damage. Changes nothing.",
            discussion: """
                Compares the database and the bytes of every attachment with their SHA-256, runs SQLite's integrity check, \
                and folds all edits again, as hesper check does. Findings go to stdout, one a line; the exit status is 1 \
                if there is any. hesper restore --salvage restores what is not damaged.
                """)

        @Argument(help: "The folder of the backup.") var folder: String

        func run() async throws {
            let backup = BackupFolder(path: folder)
            do {
                let manifest = try backup.completeManifest()
                let report = try await backup.whileLocked(shared: true) {
                    try await VerifyWork(folder: backup, manifest: manifest) { Terminal.say($0) }.run()
                }
                if !report.isFolded {
                    Terminal.say(
                        "An earlier version of Hesper wrote the database: its edits are not folded here. Run hesper check "
                            + "after a restore.")
                }
                let read = "\(count(report.accounts, "account")) and \(count(report.attachments, "attachment"))"
                let verified = "Verified \(read) of \(manifest.date)"
                guard report.findings == 0 else {
                    Terminal.say("\(verified): \(count(report.findings, "finding")).")
                    throw ExitCode(Failure.Kind.failed.rawValue)
                }
                Terminal.say("\(verified): all is well.")
            } catch is BackupInUse {
                throw Failure("\(folder) is in use: hesper backup writes to it.")
            } catch let damaged as BackupDamaged {
                throw Failure(damaged.message)
            }
        }
    }
}

extension BackupFolder {
    /// What the backup consists of.
    /// - Throws: ``Failure`` if there is no complete backup; ``BackupDamaged``.
    func completeManifest() throws -> BackupManifest {
        guard let manifest = try manifest() else {
            let hint = try BackupSeries.latest(in: path).map { " Name one of the backups in it, such as \($0)." } ?? ""
            throw Failure("\(path) holds no whole backup: there is no \(BackupFolder.manifestName).\(hint)")
        }
        return manifest
    }
}
