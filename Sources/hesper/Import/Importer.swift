import Foundation
import HesperModel
import HesperStore

/// Brings a folder's texts into an account, through the same queue, merge and bag as a device's sync.
struct Importer: Sendable {
    private let scope: Scope
    private let sender: NodeID

    /// Notes a push.
    static let pushNotes = 500
    /// Bytes of text a push, about.
    static let pushBytes = 4 << 20
    /// How often a push is tried while other processes keep the store busy.
    private static let tries = 5

    /// - Parameter store: which server or commands may be using too.
    init(store: any Store, scope: ScopeID) {
        self.scope = Scope(
            scope, queue: PushQueue(store: store), installation: store.installation, now: { Timestamp.now })
        // Nobody has signed in: the installation itself brings the files' edits.
        sender = store.installation.node
    }

    /// - Parameters:
    ///   - progress: told of each file that is done with, and why if it became no note.
    /// - Returns: what became of all files.
    func run(
        _ folder: SourceFolder, progress: (_ done: Int, _ skipped: [ImportReport.Skipped]) -> Void
    ) async throws -> ImportReport {
        var report = ImportReport(passedOver: folder.passedOver)
        report.skipped = folder.unreadable.map { ImportReport.Skipped(path: $0.path, reason: $0.reason) }
        if !report.skipped.isEmpty { progress(0, report.skipped) }
        var batches = SourceBatches(folder)
        var next = batches.next()
        while let batch = next {
            // The disk reads the next files while the store commits these.
            async let pushed = push(batch.notes)
            next = batches.next()
            var part = try await pushed
            part.skipped += batch.skipped
            report.add(part)
            progress(batch.count, part.skipped)
        }
        return report
    }

    private func push(_ notes: [SourceNote]) async throws -> ImportReport {
        guard !notes.isEmpty else { return ImportReport() }
        var attempt = 1
        while true {
            do {
                let id = scope.id
                let applied = try await scope.write(by: sender) { transaction, _, stamp in
                    try ImportPush.make(notes, in: transaction.bag(of: id), stamp: &stamp)
                }
                return ImportReport(of: notes, applied)
            } catch StoreError.unavailable(_) where attempt < Importer.tries {
                // Sending the same again is always right.
                try await Task.sleep(for: .seconds(attempt))
                attempt += 1
            }
        }
    }
}
