import ArgumentParser
import Foundation
import HesperImport
import HesperModel
import HesperMoveIn
import HesperServer
import HesperStore

/// The command `hesper import --account EMAIL SOURCE`. The source is an export of Hesper or of another app, a folder of text files,
/// or a zip of such a folder.
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Import notes of another app, a folder, or an export of Hesper. Importing again adds no duplicates.",
        discussion: """
            SOURCE is what another app exported: a zip of Simplenote, a decrypted backup of Standard Notes, a Takeout of \
            Google Keep, a JEX or RAW export of Joplin, a vault of Obsidian. The format is recognized by the contents. Titles, \
            tags, dates, archived and pinned notes, pictures and links between notes are imported; docs/move-in.md has \
            the details.

            In any other folder or zip, every .md, .markdown, .txt and .text file in the folder and its subfolders becomes a \
            note with the same text. The first line is its title, and its date is that of the file. Every subfolder becomes a \
            tag. Pictures and other files to which notes link become attachments. Hidden files and symbolic links are ignored.

            A note is identified by its ID in the app or, in a folder, by the name of the folder and the relative path of the \
            file. Importing again, on this or another machine, creates no duplicates: changes of the source are merged with \
            changes of the note, and deleted notes stay deleted. If you rename the folder, its files become new notes.

            A zip created by hesper export is imported with the original IDs, into the same or another account. Later changes \
            in the account are not undone.

            Notes, files and objects that cannot be imported are listed and skipped. The exit status is then 1.
            """)

    @Option(help: ArgumentHelp("The e-mail address of the account.", valueName: "email")) var account: String
    @Argument(help: ArgumentHelp("The folder, or the exported file.", valueName: "source")) var source: String
    @OptionGroup var dataOptions: DataOptions

    func run() async throws {
        try await dataOptions.withStore(importSource)
    }

    private func importSource(into store: any Store) async throws {
        let email = account
        let account = try await store.read { try $0.account(of: email) }
        let (name, report) = try await report(
            try dataOptions.settings().server(), store, account.scope)
        // The new notes are indexed now, so that the next search finds them without delay.
        if let head = try await store.read({ try $0.head(of: account.scope) }) {
            try await TermIndexer(store: store).index(account.scope, upTo: head.sequence)
        }
        Terminal.printLine("Imported \(name): \(report.summary)")
        if !report.skipped.isEmpty { throw ExitCode(Failure.Kind.failed.rawValue) }
    }

    private func report(
        _ settings: ServerSettings, _ store: any Store, _ scope: ScopeID
    ) async throws -> (name: String, ImportReport) {
        let largest = settings.attachments.largest
        let source = try await ImportSource(source, SourceLimits(attachmentBytes: largest), MarkupProcess())
        let target = ImportTarget(
            store: store, blobs: try await dataOptions.openBlobs(), scope: scope, maximumAttachmentBytes: largest,
            quota: settings.quota, now: { .now })
        var bar = ProgressBar(total: source.count, label: "\(source.unit) imported")
        let report = try await source.run(into: target) { bar.show($0, $1) }
        bar.end()
        return (source.name, report)
    }
}

extension ProgressBar {
    /// Advances the progress bar, and prints the notes, files or objects that were skipped.
    fileprivate mutating func show(_ done: Int, _ skipped: [ImportReport.Skipped]) {
        if !skipped.isEmpty { clear() }
        for item in skipped { Terminal.printError("Skipped \(item.path): \(item.reason)") }
        advance(by: done)
    }
}
