import ArgumentParser
import Foundation
import HesperArchive
import HesperModel
import HesperStore

/// `hesper import --account EMAIL FOLDER`, or the zip of an export, or of texts
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring a folder of texts, or an export, into an account, as often as you like.",
        discussion: """
            Every .md, .markdown, .txt and .text file of the folder and of the folders in it becomes a note with all of \
            its text, the first line being its title, dated as the file is; every folder that leads to it becomes a tag. \
            Hidden files and links are passed over.

            A note is known by the name of FOLDER and the file's path in it. So importing again doubles nothing, on this \
            machine or another: what was changed in a file is merged with what was changed in its note, what was deleted \
            stays deleted. Another name of FOLDER makes other notes. A zip of texts is the folder that it was.

            A zip that hesper export made brings back all that was in the account, under the same IDs, into the same \
            account or another; what has changed here since is not undone.

            What cannot be imported is named and skipped; the exit status is then 1.
            """)

    @Option(help: ArgumentHelp("Whose notes they become.", valueName: "email")) var account: String
    @Argument(help: ArgumentHelp("The folder, or a zip.", valueName: "folder")) var source: String
    @OptionGroup var dataOptions: DataOptions

    func run() async throws {
        try await dataOptions.withStore(importSource)
    }

    private func importSource(into store: any Store) async throws {
        let email = account
        let account = try await store.read { try $0.account(of: email) }
        let (name, report) = try await report(store, account.scope)
        // So that the next search is complete.
        if let head = try await store.read({ try $0.head(of: account.scope) }) {
            try await TermIndexer(store: store).index(account.scope, upTo: head.sequence)
        }
        Terminal.say("Imported \(name): \(report.summary)")
        if !report.skipped.isEmpty { throw ExitCode(Failure.Kind.failed.rawValue) }
    }

    private func report(_ store: any Store, _ scope: ScopeID) async throws -> (name: String, ImportReport) {
        var isFolder: ObjCBool = false
        guard ZipReader.isZip(source) else {
            if FileManager.default.fileExists(atPath: source, isDirectory: &isFolder), !isFolder.boolValue {
                throw Failure("\(source) is neither a folder nor a zip.", .usage)
            }
            return try await report(of: try SourceFolder(source), store, scope)
        }
        guard let contents = try await ExportContents(of: source) else {
            return try await report(of: try SourceArchive(source), store, scope)
        }
        let settings = try dataOptions.settings().server()
        let importer = ArchiveImporter(
            source, contents, store: store, blobs: try await dataOptions.openBlobs(), scope: scope,
            largest: settings.attachments.largest, quota: settings.quota)
        var bar = ProgressBar(total: importer.count, what: "objects imported")
        let report = try await importer.run { bar.show($0, $1) }
        bar.end()
        return (source, report)
    }

    private func report(
        of source: any TextSource, _ store: any Store, _ scope: ScopeID
    ) async throws -> (name: String, ImportReport) {
        var bar = ProgressBar(total: source.files.count, what: "files imported")
        let quota = try dataOptions.settings().server().quota
        let report = try await Importer(store: store, scope: scope, quota: quota).run(source) { bar.show($0, $1) }
        bar.end()
        return (source.name, report)
    }
}

extension ProgressBar {
    /// Goes on, and names what was skipped.
    fileprivate mutating func show(_ done: Int, _ skipped: [ImportReport.Skipped]) {
        if !skipped.isEmpty { clear() }
        for item in skipped { Terminal.complain("\(item.path) is skipped. \(item.reason)") }
        advance(by: done)
    }
}
