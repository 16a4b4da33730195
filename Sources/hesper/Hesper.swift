import ArgumentParser
import HesperArchive
import HesperModel
import HesperMoveIn
import HesperServer
import HesperStore

/// The command `hesper`. If it fails, it prints the error as one line on stderr.
@main
struct Hesper: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hesper",
        abstract: "A self-hosted sync service for notes.",
        discussion: """
            Options take precedence over environment variables (HESPER_HOST, HESPER_PORT, HESPER_DATA, …), and variables over a \
            JSON settings file: --config, else HESPER_CONFIG, else hesper.json in the data folder if it exists. The keys in the \
            file are the option names in camelCase: {"port": 8080, "signUp": "closed", \
            "corsOrigins": ["https://notes.example.org"]}.

            Commands other than serve and migrate-data use the settings of the service installed on this machine, unless \
            --data, --database, --config or their variables are set, or the working directory has a folder named data.

            The command sync is a client, and needs none of these settings.

            All commands except migrate-data and restore may run while hesper serve runs.

            Exit status: 0 success; 1 failure, or problems found; 64 invalid command line; 78 invalid setting. \
            capture-mail has others.
            """,
        version: "hesper \(ServerSettings().version)",
        subcommands: [
            Serve.self, AccountCommand.self, BackupCommand.self, RestoreCommand.self, Check.self, Doctor.self,
            Import.self, CaptureMail.self,
            ExportCommand.self, ParseMarkup.self, SyncCommand.self, MigrateData.self, AdoptAttachments.self,
        ])

    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let failure as Failure {
            Terminal.printError(failure.message)
            exit(withError: ExitCode(failure.kind.rawValue))
        } catch let problem as Problem {
            Terminal.printError(problem.detail)
            exit(withError: ExitCode(Failure.Kind.failed.rawValue))
        } catch let error as ArchiveError {
            Terminal.printError(error.message)
            exit(withError: ExitCode(Failure.Kind.failed.rawValue))
        } catch let error as MoveInError {
            Terminal.printError(error.message)
            exit(withError: ExitCode((error.isUsage ? Failure.Kind.usage : .failed).rawValue))
        } catch let error as StoreError {
            Terminal.printError("\(error).")
            exit(withError: ExitCode(Failure.Kind.failed.rawValue))
        } catch {
            exit(withError: error)
        }
    }
}
