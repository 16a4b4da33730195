import ArgumentParser
import HesperMirror

/// The command `hesper sync FOLDER`.
struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Keep a folder of Markdown files and the notes of an account the same, in both directions.",
        discussion: """
            The first time, pass --server and --email. The command signs in, shows what it would do, and asks for confirmation. \
            Later, only the folder is needed. It runs until Ctrl-C, unless --once is given.

            Every .md, .markdown and .txt file is a note. If a file and its note were both changed, the texts are merged. If a \
            file is deleted here, its note is deleted after five minutes. If a note is deleted elsewhere, its file is moved to \
            FOLDER/.hesper/trash. Any other file becomes an attachment if a note links to it. Every attachment of a note becomes \
            a file. docs/mirror.md describes all cases.

            This command needs no server on this machine: it is a client like the web app. The state of a folder is in \
            $XDG_STATE_HOME/hesper, by default ~/.local/state/hesper.

            Exit status: 0 success; 1 failure, or changes that are not synced; 2 a required option is missing, or \
            an option does not match the state of the folder; 3 a new sign-in is required; 4 a confirmation is required; \
            64 invalid command line.
            """)

    @Argument(help: ArgumentHelp("The folder.", valueName: "folder")) var folder: String
    @Option(help: ArgumentHelp("The address of the server, such as https://notes.example.org.", valueName: "url"))
    var server: String?
    @Option(help: ArgumentHelp("The e-mail address of the account.", valueName: "email")) var email: String?
    @Option(
        help: ArgumentHelp(
            "A file with the password in its first line (default: prompt on a terminal).", valueName: "file"))
    var passwordFile: String?
    @Flag(help: "Sync once and exit, for example in a cron job.") var once = false
    @Flag(help: "Show what would be done, without doing it.") var dryRun = false
    @Flag(help: "Do not ask for confirmation before the first sync.") var yes = false
    @Flag(help: "Change only the folder. Do not send changes that were made in it.") var pullOnly = false
    @Flag(help: "Delete notes even if many files are missing, and send files even if many have returned to old texts.")
    var confirmDeletions = false
    @Flag(help: "Sync a folder that another machine synced before and no longer syncs.") var takeOver = false
    @Flag(help: "Show what is not synced, and why.") var status = false
    @Flag(help: "With --status: print JSON.") var json = false

    func validate() throws {
        if json && !status { throw ValidationError("--json is only possible with --status.") }
    }

    func run() async throws {
        var options = MirrorOptions(folder: folder)
        options.server = server
        options.email = email
        options.password = try passwordFile.map { try PasswordOptions.firstLine(of: $0) ?? "" }
        (options.isOnce, options.isDryRun, options.isAccepted) = (once, dryRun, yes)
        (options.isPullOnly, options.confirmsDeletions, options.takesOver) = (pullOnly, confirmDeletions, takeOver)
        let session = MirrorSession(options, SyncCommand.console)
        do {
            if status { try await session.showStatus(asJSON: json) } else { try await session.run() }
        } catch let error as MirrorError {
            Terminal.printError(error.description)
            throw ExitCode(error.kind.rawValue)
        }
    }

    private static let console = MirrorConsole(
        show: { Terminal.printLine($0) }, warn: { Terminal.printError($0) },
        ask: { Terminal.readsKeyboard ? Terminal.prompt($0) : nil }, askSecretly: { SecretPrompt.read($0) })
}
