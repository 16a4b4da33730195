import ArgumentParser
import Foundation
import HesperArchive
import HesperModel
import HesperStore

/// `hesper export --account EMAIL [FILE]`
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Take everything out of an account, as one zip.",
        discussion: """
            Notes are Markdown files named by their first lines, those that are archived in a folder Archive; attachments \
            are the files they were, in a folder Attachments; hesper.json has all of it as sync sends it, for hesper import \
            and for programs. It is what there is at one moment, also while devices write.

            If bytes of an attachment are missing or damaged, MISSING.txt in the archive says so, and the exit status is 1.
            """)

    @Option(help: ArgumentHelp("Whose notes they are.", valueName: "email")) var account: String
    @Argument(
        help: ArgumentHelp(
            "The file, which is not there yet; - for standard output (default: hesper-DATE.zip).", valueName: "file"))
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
        var bar = ProgressBar(total: export.fileCount, what: "files exported")
        let report: ExportReport
        do {
            report = try await export.write(progress: { bar.advance(by: $0) }, to: { try file.write($0) })
            try file.finish()
        } catch {
            file.abandon()
            throw error
        }
        bar.end()
        for missing in report.missing { Terminal.complain(missing.description) }
        file.say(
            "Exported \(file.path): \(count(report.notes, "note")), \(count(report.attachments, "attachment"))"
                + (report.missing.isEmpty ? "." : ", \(report.missing.count) missing or damaged."))
        if !report.missing.isEmpty { throw ExitCode(Failure.Kind.failed.rawValue) }
    }
}
