import ArgumentParser
import HesperBlobs
import HesperServer
import HesperStore

/// The command `hesper doctor`.
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check an installation for problems.",
        discussion: """
            Checks the settings, permissions, disk space, the version of the database, the database with SQLite's quick check, \
            edits dated in the future, attachments, scheduled backups, the mail command, the certificate and the clock. Run it as \
            the user that runs the server. It uses the settings of the installed service. Without one, pass the options and variables of \
            hesper serve. It changes nothing and may run while hesper serve runs. A large database takes a while.

            Prints one line per finding, which starts with ok, warning or wrong. The exit status is 1 if anything is wrong. \
            Warnings may be intended.
            """)

    @OptionGroup var dataOptions: DataOptions

    func run() async throws {
        let settings = try dataOptions.settings()
        var found = SettingsDiagnosis(settings: settings).all()
        found += await DataDiagnosis(settings: settings).all()
        found += await BackupDiagnosis(settings: settings).all()
        found += MailDiagnosis(settings: settings).all()
        found += MachineDiagnosis(settings: settings).all()
        for diagnosis in found { Terminal.printLine(diagnosis.line) }
        if found.contains(where: { $0.kind == .wrong }) { throw ExitCode(Failure.Kind.failed.rawValue) }
    }
}
