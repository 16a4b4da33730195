import ArgumentParser
import HesperArchive
import HesperModel
import HesperServer
import HesperStore

/// The command. What goes wrong is said in one line on stderr.
@main
struct Hesper: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hesper",
        abstract: "A self-hosted sync service for notes.",
        discussion: """
            Settings come from flags, then from variables (HESPER_HOST, HESPER_PORT, HESPER_DATA, …), then from a file of \
            JSON: --config, else HESPER_CONFIG, else hesper.json in the data folder if there is one. Its keys are the \
            flags in camelCase: {"port": 8080, "signUp": "closed", "corsOrigins": ["https://notes.example.org"]}.

            Commands other than serve and migrate-data use the settings of the service that is installed on this machine, \
            unless --data, --database or --config, or their variables, name other data, or there is a folder data here.

            All commands but migrate-data and restore may run beside serve.

            Exit status: 0 done; 1 it failed, or something wrong was found; 64 wrong command line; 78 wrong setting.
            """,
        version: "hesper \(ServerSettings().version)",
        subcommands: [
            Serve.self, AccountCommand.self, BackupCommand.self, RestoreCommand.self, Check.self, Doctor.self,
            Import.self,
            ExportCommand.self, MigrateData.self, AdoptAttachments.self,
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
            Terminal.complain(failure.message)
            exit(withError: ExitCode(failure.kind.rawValue))
        } catch let problem as Problem {
            Terminal.complain(problem.detail)
            exit(withError: ExitCode(Failure.Kind.failed.rawValue))
        } catch let error as ArchiveError {
            Terminal.complain(error.message)
            exit(withError: ExitCode(Failure.Kind.failed.rawValue))
        } catch let error as StoreError {
            Terminal.complain("\(error).")
            exit(withError: ExitCode(Failure.Kind.failed.rawValue))
        } catch {
            exit(withError: error)
        }
    }
}
