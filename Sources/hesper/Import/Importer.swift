import Foundation
import HesperModel
import HesperStore

/// Brings texts into an account, through the same queue, merge and bag as a device's sync.
struct Importer: Sendable {
    private let pusher: ImportPusher

    /// Notes a push.
    static let pushNotes = 500
    /// Bytes of text a push, about.
    static let pushBytes = 4 << 20

    /// - Parameters:
    ///   - store: which server or commands may be using too.
    ///   - quota: how many bytes an account may store that has no quota of its own; nil for any number.
    init(store: any Store, scope: ScopeID, quota: Int64? = nil) {
        pusher = ImportPusher(store: store, scope: scope, quota: quota)
    }

    /// - Parameters:
    ///   - progress: told of each file that is done with, and why if it became no note.
    /// - Returns: what became of all files.
    func run(
        _ source: any TextSource, progress: (_ done: Int, _ skipped: [ImportReport.Skipped]) -> Void
    ) async throws -> ImportReport {
        var report = ImportReport(passedOver: source.passedOver)
        report.skipped = source.unreadable.map { ImportReport.Skipped(path: $0.path, reason: $0.reason) }
        if !report.skipped.isEmpty { progress(0, report.skipped) }
        var batches = SourceBatches(source)
        var next = try batches.next()
        while let batch = next {
            // The disk reads the next files while the store commits these.
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
