import HesperArchive
import HesperModel
import HesperStore

/// Imports an archive that was exported from the same account or from another account. Objects keep their IDs and clocks. They
/// are merged like edits that a device pushes to a restored server.
///
/// The data of attachments is imported first, because an attachment without data is refused. Then the objects are imported, in
/// the order of `hesper.json`.
public struct ArchiveImporter: Sendable {
    private let path: String
    private let contents: ExportContents
    private let pusher: ImportPusher
    private let attachments: ArchiveAttachments
    private let pushSize: PushSize

    /// Prepares the import of an archive.
    /// - Parameters:
    ///   - path: the path of the archive.
    ///   - target: the account into which the archive is imported.
    public init(_ path: String, _ contents: ExportContents, into target: ImportTarget) {
        self.path = path
        self.contents = contents
        pusher = ImportPusher(target)
        pushSize = target.pushSize
        attachments = ArchiveAttachments(files: ImportedFiles(target, pusher))
    }

    /// The total number of steps for which ``run(progress:)`` reports progress.
    public var count: Int { contents.attachments.count + contents.objectCount }

    /// Imports the archive.
    /// - Parameter progress: called with the number of steps that were completed since the previous call, and the objects that
    ///   were refused in these steps.
    public func run(
        progress: (_ done: Int, _ skipped: [ImportReport.Skipped]) async throws -> Void
    ) async throws -> ImportReport {
        let refused = try await attachments.add(from: path, contents) { try await progress(1, []) }
        var report = ImportReport()
        var batch = Batch()
        func push() async throws {
            let part = try await self.push(batch.elements, refused)
            report.add(part)
            try await progress(batch.elements.count, part.skipped)
            batch = Batch()
        }
        try await contents.forEachElement(of: path) { element in
            batch.elements.append(element)
            batch.bytes += element.textBytes
            if batch.elements.count >= pushSize.notes || batch.bytes >= pushSize.bytes { try await push() }
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
        // Edits whose clocks are too far ahead of this server's clock are pushed again with new clocks (merge.md, Clocks, Clock
        // skew).
        let again =
            ahead.isEmpty
            ? nil : try await pusher.push { try ahead.stamped(in: $0.bag(of: $1.head.scope), stamp: &$2) }
        return ImportReport(of: elements, applied, again, refused)
    }
}

extension Push.Element {
    /// The total size of the element's texts, in bytes. It approximates the size of the element in a push.
    fileprivate var textBytes: Int {
        guard case .change(let change) = self else { return 0 }
        return change.edits.reduce(0) { sum, edit in
            if case .string(let text)? = edit.value { sum + text.utf8.count } else { sum }
        }
    }
}
