import Foundation
import HesperModel
import HesperStore

/// Imports text files into an account. The notes are merged like notes that a device pushes.
struct Importer: Sendable {
    private let pusher: ImportPusher

    /// The maximum number of notes per push.
    static let pushNotes = 500
    /// The approximate maximum size of the texts in a push, in bytes.
    static let pushBytes = 4 << 20

    /// - Parameters:
    ///   - store: the store of the account. Servers and other commands may use it at the same time.
    ///   - quota: the quota of accounts that do not have a quota of their own, in bytes; nil for no limit.
    init(store: any Store, scope: ScopeID, quota: Int64? = nil) {
        pusher = ImportPusher(store: store, scope: scope, quota: quota)
    }

    /// Imports all files of a source.
    /// - Parameter progress: called with the number of files that were processed since the previous call, and the skipped
    ///   files among them.
    /// - Returns: the report of all files.
    func run(
        _ source: any TextSource, progress: (_ done: Int, _ skipped: [ImportReport.Skipped]) -> Void
    ) async throws -> ImportReport {
        var report = ImportReport(ignored: source.ignored)
        report.skipped = source.unreadable.map { ImportReport.Skipped(path: $0.path, reason: $0.reason) }
        if !report.skipped.isEmpty { progress(0, report.skipped) }
        var batches = SourceBatches(source)
        var next = try batches.next()
        while let batch = next {
            // The next files are read while the store commits the current batch.
            async let pushed = push(batch.notes)
            next = try batches.next()
            var part = try await pushed
            part.skipped += batch.skipped
            report.add(part)
            progress(batch.count, part.skipped)
        }
        return report
    }

    private func push(_ notes: [SourceNote]) async throws -> ImportReport {
        guard !notes.isEmpty else { return ImportReport() }
        let id = pusher.scope.id
        let applied = try await pusher.push { transaction, _, stamp in
            try ImportPush.make(notes, in: transaction.bag(of: id), stamp: &stamp)
        }
        return ImportReport(of: notes, applied)
    }
}
