import HesperArchive
import HesperModel
import HesperStore

/// Brings an export back into an account, the one it was made of or another: every object under its own ID, with the clocks
/// that it always had, through the same queue, merge and bag as a device that gives back what a restored server lacks.
///
/// Bytes of attachments come first, as an attachment is refused without them; then objects, in the order of `hesper.json`.
struct ArchiveImporter: Sendable {
    private let path: String
    private let contents: ExportContents
    private let store: any Store
    private let pusher: ImportPusher
    private let attachments: ArchiveAttachments

    /// - Parameters:
    ///   - path: of the archive.
    ///   - largest: how many bytes an attachment may have.
    ///   - quota: how many bytes an account may store that has no quota of its own; nil for any number.
    init(
        _ path: String, _ contents: ExportContents, store: any Store, blobs: any BlobStore, scope: ScopeID,
        largest: Int64, quota: Int64? = nil
    ) {
        self.path = path
        self.contents = contents
        self.store = store
        pusher = ImportPusher(store: store, scope: scope, quota: quota)
        attachments = ArchiveAttachments(store: store, blobs: blobs, pusher: pusher, largest: largest)
    }

    /// How many things there are to do: what ``run(progress:)`` tells adds up to it.
    var count: Int { contents.attachments.count + contents.objectCount }

    /// - Parameter progress: told of what is done, and of what was refused, and why.
    func run(
        progress: (_ done: Int, _ skipped: [ImportReport.Skipped]) -> Void
    ) async throws -> ImportReport {
        let refused = try await attachments.add(from: path, contents) { progress(1, []) }
        var report = ImportReport()
        var batch = Batch()
        func push() async throws {
            let part = try await self.push(batch.elements, refused)
            report.add(part)
            progress(batch.elements.count, part.skipped)
            batch = Batch()
        }
        try await contents.forEachElement(of: path) { element in
            batch.elements.append(element)
            batch.bytes += element.textBytes
            if batch.elements.count >= Importer.pushNotes || batch.bytes >= Importer.pushBytes { try await push() }
        }
        if !batch.elements.isEmpty { try await push() }
        return report
    }

    private struct Batch {
        var elements: [Push.Element] = []
        var bytes = 0
    }

    private func push(_ elements: [Push.Element], _ refused: [UniqueID: String]) async throws -> ImportReport {
        let applied = try await pusher.push { _, _, _ in Push(elements) }
        let ahead = elements.withClocksAhead(applied.receipts)
        // Whoever made them had a clock that is ahead of this server's (merge.md, Clocks, Clock skew): they are stamped anew.
        let again =
            ahead.isEmpty
            ? nil : try await pusher.push { try ahead.stamped(in: $0.bag(of: $1.head.scope), stamp: &$2) }
        return ImportReport(of: elements, applied, again, refused)
    }
}

extension Push.Element {
    /// About what it weighs in a push.
    fileprivate var textBytes: Int {
        guard case .change(let change) = self else { return 0 }
        return change.edits.reduce(0) { sum, edit in
            if case .string(let text)? = edit.value { sum + text.utf8.count } else { sum }
        }
    }
}
