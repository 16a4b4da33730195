import ArgumentParser
import HesperBlobs
import HesperServer
import HesperStore

/// `hesper doctor`
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look for what is wrong with an installation.",
        discussion: """
            Settings that contradict each other, permissions, room on the disks, the database and its version, SQLite's own \
            quick check of it, edits with clocks that are ahead, attachments, scheduled backups, the command for mail, the \
            certificate, the clock. Run it as the user that serves. It uses the settings of the installed service; where there is none, \
            give it the flags and variables that serve gets. It changes nothing, and may run beside serve; with a large database it \
            reads for a while.

            One line for each thing, which begins with ok, warning or wrong. The exit status is 1 if anything is wrong; \
            warnings may be meant.
            """)

    @OptionGroup var dataOptions: DataOptions

    func run() async throws {
        let settings = try dataOptions.settings()
        var found = SettingsDiagnosis(settings: settings).all()
        found += await DataDiagnosis(settings: settings).all()
        found += await BackupDiagnosis(settings: settings).all()
        found += MailDiagnosis(settings: settings).all()
        found += MachineDiagnosis(settings: settings).all()
        for diagnosis in found { Terminal.say(diagnosis.line) }
        if found.contains(where: { $0.kind == .wrong }) { throw ExitCode(Failure.Kind.failed.rawValue) }
    }
}
