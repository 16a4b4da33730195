import ArgumentParser
import Foundation
import HesperArchive
import HesperModel
import HesperStore

/// The command `hesper export --account EMAIL [FILE]`.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export all data of an account as a zip archive.",
        discussion: """
            Notes are Markdown files named after their first lines. Archived notes are in the folder Archive. Attachments are in \
            the folder Attachments. hesper.json contains all objects in the format of sync, for hesper import and other \
            programs. The archive is a consistent snapshot, even if devices write during the export.

            If the data of an attachment is missing or damaged, MISSING.txt in the archive lists it, and the exit status is 1.
            """)

    @Option(help: ArgumentHelp("The e-mail address of the account.", valueName: "email")) var account: String
    @Argument(
        help: ArgumentHelp(
            "The file to create, or - for standard output (default: hesper-DATE.zip).", valueName: "file"))
    var file: String?
    @OptionGroup var dataOptions: DataOptions

    func run() async throws {
        try await dataOptions.withStore(export)
    }

    private func export(from store: any Store) async throws {
        let email = account
        let account = try await store.read { try $0.account(of: email) }
        let blobs = try await dataOptions.openBlobs()
        let now = Timestamp.now
        let file = try ArchiveFile(self.file ?? Export.fileName(now))
        let export = try await Export(of: account.scope, store: store, blobs: blobs, date: now)
        var bar = ProgressBar(total: export.fileCount, label: "files exported")
        let report: ExportReport
        do {
            report = try await export.write(progress: { bar.advance(by: $0) }, to: { try file.write($0) })
            try file.finish()
        } catch {
            file.abandon()
            throw error
        }
        bar.end()
        for missing in report.missing { Terminal.printError(missing.description) }
        file.printResult(
            "Exported \(file.path): \(counted(report.notes, "note")), \(counted(report.attachments, "attachment"))"
                + (report.missing.isEmpty ? "." : ", \(report.missing.count) missing or damaged."))
        if !report.missing.isEmpty { throw ExitCode(Failure.Kind.failed.rawValue) }
    }
}
