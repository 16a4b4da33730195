import HesperModel
import HesperMoveIn
import HesperStore

/// Imports the notes of other apps, or of a folder, into an account. The notes are merged like notes that a device pushes.
public struct Importer: Sendable {
    private let pusher: ImportPusher
    private let files: ImportedFiles

    private let pushSize: PushSize

    /// - Parameter target: the account into which notes are imported.
    public init(into target: ImportTarget) {
        pusher = ImportPusher(target)
        files = ImportedFiles(target, pusher)
        pushSize = target.pushSize
    }

    /// Imports all notes of a source.
    /// - Parameter progress: called after each push. `done` is the number of notes that were processed since the previous call.
    ///   `skipped` contains the notes and files that were skipped since the previous call.
    /// - Returns: the report of all notes.
    public func run(
        _ source: any SourceReader, progress: (_ done: Int, _ skipped: [ImportReport.Skipped]) async throws -> Void
    ) async throws -> ImportReport {
        var report = ImportReport()
        var batch = Batch()
        func push() async throws {
            var part = try await self.push(batch.notes)
            part.skipped += batch.skipped
            report.add(part)
            try await progress(batch.count, part.skipped)
            batch = Batch()
        }
        try await source.read { entry in
            switch entry {
            case .note(let note): batch.add(note)
            case .skipped(let path, let reason):
                batch.count += 1
                batch.skipped.append(ImportReport.Skipped(path: path, reason: reason))
            case .trashed: report.trashed += 1
            case .ignored(let count): report.ignored += count
            }
            if batch.exceeds(pushSize) { try await push() }
        }
        if batch.count > 0 { try await push() }
        return report
    }

    private struct Batch {
        private(set) var notes: [SourceNote] = []
        var skipped: [ImportReport.Skipped] = []
        /// The number of notes in the batch, including the skipped ones.
        var count = 0
        private var bytes = 0
        private var attachments = 0

        mutating func add(_ note: SourceNote) {
            notes.append(note)
            count += 1
            bytes += note.text.utf8.count
            attachments += note.attachments.count
            skipped += note.losses.map {
                ImportReport.Skipped(path: "\(note.path), \($0.part)", reason: $0.reason)
            }
        }

        /// Whether the batch must be pushed before another note is added.
        func exceeds(_ size: PushSize) -> Bool {
            count >= size.notes || bytes >= size.bytes || attachments >= size.attachments
        }
    }

    /// Stores the files of notes first, because an attachment without data is refused, and then pushes the notes.
    private func push(_ notes: [SourceNote]) async throws -> ImportReport {
        guard !notes.isEmpty else { return ImportReport() }
        let id = pusher.scope.id
        let stored = try await files.add(notes)
        let applied = try await pusher.push { transaction, _, stamp in
            try ImportPush.make(notes, stored.attachments, in: transaction.bag(of: id), stamp: &stamp)
        }
        var report = ImportReport(of: notes, applied)
        report.skipped += stored.refused
        return report
    }
}
