import ArgumentParser
import HesperModel
import HesperStore

/// `hesper import --account EMAIL FOLDER`
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring a folder of texts into an account, as often as you like.",
        discussion: """
            Every .md, .markdown, .txt and .text file of the folder and of the folders in it becomes a note with all of \
            its text, the first line being its title, dated as the file is; every folder that leads to it becomes a tag. \
            Hidden files and links are passed over.

            A note is known by the name of FOLDER and the file's path in it. So importing again doubles nothing, on this \
            machine or another: what was changed in a file is merged with what was changed in its note, what was deleted \
            stays deleted. Another name of FOLDER makes other notes.

            Files that cannot be read, are not UTF-8 or too large are named and skipped; the exit status is then 1.
            """)

    @Option(help: ArgumentHelp("Whose notes they become.", valueName: "email")) var account: String
    @Argument(help: "The folder.") var folder: String
    @OptionGroup var dataOptions: DataOptions

    func run() async throws {
        let store = try dataOptions.openStore()
        defer { try? store.close() }
        let email = account
        let account = try await store.read { try $0.account(of: email) }
        let source = try SourceFolder(folder)

        var bar = ProgressBar(total: source.files.count, what: "files imported")
        let report = try await Importer(store: store, scope: account.scope).run(source) { done, skipped in
            if !skipped.isEmpty { bar.clear() }
            for file in skipped { Terminal.complain("\(file.path) is skipped. \(file.reason)") }
            bar.advance(by: done)
        }
        bar.end()
        // Whoever searches next need not wait for it.
        if let head = try await store.read({ try $0.head(of: account.scope) }) {
            try await TermIndexer(store: store).index(account.scope, upTo: head.sequence)
        }
        Terminal.say("Imported \(source.name): \(report.summary)")
        if !report.skipped.isEmpty { throw ExitCode(Failure.Kind.failed.rawValue) }
    }
}
