import HesperModel
import HesperMoveIn
import HesperStore

/// Imports the notes of other apps, or of a folder, into an account. The notes are merged like notes that a device pushes.
struct Importer: Sendable {
    private let pusher: ImportPusher
    private let files: ImportedFiles

    /// The maximum number of notes per push.
    static let pushNotes = 500
    /// The approximate maximum size of the texts in a push, in bytes.
    static let pushBytes = 4 << 20
    /// The maximum number of attachments per push, approximately.
    static let pushAttachments = 500

    /// - Parameters:
    ///   - store: the store of the account. Servers and other commands may use it at the same time.
    ///   - blobs: the storage of attachments.
    ///   - sender: the device or access token that counts as the sender of the notes; nil for the installation.
    ///   - maximumAttachmentBytes: the maximum size of an attachment in bytes.
    ///   - quota: the quota of accounts that do not have a quota of their own, in bytes; nil for no limit.
    init(
        store: any Store, blobs: any BlobStore, scope: ScopeID, by sender: NodeID? = nil, maximumAttachmentBytes: Int64,
        quota: Int64? = nil
    ) {
        pusher = ImportPusher(store: store, scope: scope, by: sender, quota: quota)
        files = ImportedFiles(store: store, blobs: blobs, pusher: pusher, maximumBytes: maximumAttachmentBytes)
    }

    /// Imports all notes of a source.
    /// - Parameter progress: called with the number of notes that were processed since the previous call, and the skipped files and
    ///   notes among them.
    /// - Returns: the report of all notes.
    func run(
        _ source: any SourceReader, progress: (_ done: Int, _ skipped: [ImportReport.Skipped]) -> Void
    ) async throws -> ImportReport {
        var report = ImportReport()
        var batch = Batch()
        func push() async throws {
            var part = try await self.push(batch.notes)
            part.skipped += batch.skipped
            report.add(part)
            progress(batch.count, part.skipped)
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
            if batch.isFull { try await push() }
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

        var isFull: Bool {
            count >= Importer.pushNotes || bytes >= Importer.pushBytes || attachments >= Importer.pushAttachments
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
