import ArgumentParser
import Foundation
import HesperArchive
import HesperModel
import HesperStore

/// The command `hesper import --account EMAIL SOURCE`. The source is a folder of text files, a zip of such a folder, or an
/// export.
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Import a folder of text files, or an export, into an account. Can be repeated.",
        discussion: """
            Every .md, .markdown, .txt and .text file in the folder and its subfolders becomes a note with the same text. The \
            first line is its title, and its date is that of the file. Every subfolder becomes a tag. Hidden files and symbolic \
            links are ignored.

            A note is identified by the name of FOLDER and the relative path of the file. Importing the folder again, on this \
            or another machine, creates no duplicates: changes of the file are merged with changes of the note, and deleted \
            notes stay deleted. If FOLDER has another name, new notes are created. A zip of text files is imported like a folder.

            A zip created by hesper export is imported with the original IDs, into the same or another account. Later changes \
            in the account are not undone.

            Files and objects that cannot be imported are listed and skipped. The exit status is then 1.
            """)

    @Option(help: ArgumentHelp("The e-mail address of the account.", valueName: "email")) var account: String
    @Argument(help: ArgumentHelp("The folder, or a zip file.", valueName: "folder")) var source: String
    @OptionGroup var dataOptions: DataOptions

    func run() async throws {
        try await dataOptions.withStore(importSource)
    }

    private func importSource(into store: any Store) async throws {
        let email = account
        let account = try await store.read { try $0.account(of: email) }
        let (name, report) = try await report(store, account.scope)
        // The new notes are indexed now, so that the next search finds them without delay.
        if let head = try await store.read({ try $0.head(of: account.scope) }) {
            try await TermIndexer(store: store).index(account.scope, upTo: head.sequence)
        }
        Terminal.printLine("Imported \(name): \(report.summary)")
        if !report.skipped.isEmpty { throw ExitCode(Failure.Kind.failed.rawValue) }
    }

    private func report(_ store: any Store, _ scope: ScopeID) async throws -> (name: String, ImportReport) {
        var isFolder: ObjCBool = false
        guard ZipReader.isZip(source) else {
            if FileManager.default.fileExists(atPath: source, isDirectory: &isFolder), !isFolder.boolValue {
                throw Failure("\(source) is not a folder or a zip file.", .usage)
            }
            return try await report(of: try SourceFolder(source), store, scope)
        }
        guard let contents = try await ExportContents(of: source) else {
            return try await report(of: try SourceArchive(source), store, scope)
        }
        let settings = try dataOptions.settings().server()
        let importer = ArchiveImporter(
            source, contents, store: store, blobs: try await dataOptions.openBlobs(), scope: scope,
            maximumAttachmentBytes: settings.attachments.largest, quota: settings.quota)
        var bar = ProgressBar(total: importer.count, label: "objects imported")
        let report = try await importer.run { bar.show($0, $1) }
        bar.end()
        return (source, report)
    }

    private func report(
        of source: any TextSource, _ store: any Store, _ scope: ScopeID
    ) async throws -> (name: String, ImportReport) {
        var bar = ProgressBar(total: source.files.count, label: "files imported")
        let quota = try dataOptions.settings().server().quota
        let report = try await Importer(store: store, scope: scope, quota: quota).run(source) { bar.show($0, $1) }
        bar.end()
        return (source.name, report)
    }
}

extension ProgressBar {
    /// Advances the progress bar, and prints the files or objects that were skipped.
    fileprivate mutating func show(_ done: Int, _ skipped: [ImportReport.Skipped]) {
        if !skipped.isEmpty { clear() }
        for item in skipped { Terminal.printError("Skipped \(item.path): \(item.reason)") }
        advance(by: done)
    }
}
