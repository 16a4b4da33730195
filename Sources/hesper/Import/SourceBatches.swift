import HesperModel
import HesperServer

/// Reads the files of a source in batches. Each batch becomes one push.
struct SourceBatches {
    /// The files that were read for one push.
    struct Batch: Sendable {
        var notes: [SourceNote] = []
        var skipped: [ImportReport.Skipped] = []
        /// The number of files in the batch, including the skipped files.
        var count = 0
    }

    private var source: any TextSource
    private var index = 0
    private var seen: Set<UniqueID> = []

    init(_ source: any TextSource) { self.source = source }

    /// Reads the next batch. Returns nil after the last batch.
    /// - Throws: errors after which no further file can be read, such as a damaged archive.
    mutating func next() throws -> Batch? {
        guard index < source.files.count else { return nil }
        var batch = Batch()
        var bytes = 0
        while index < source.files.count, batch.notes.count < Importer.pushNotes, bytes < Importer.pushBytes {
            let file = source.files[index]
            index += 1
            batch.count += 1
            do {
                let note = try SourceNote(file, in: source.name, now: .now) { try source.bytes(of: $0) }
                guard seen.insert(note.uniqueID).inserted else {
                    throw SourceFile.Rejected(
                        reason: "Another file has the same name in a different Unicode normalization.")
                }
                batch.notes.append(note)
                bytes += file.byteCount
            } catch let rejected as SourceFile.Rejected {
                batch.skipped.append(ImportReport.Skipped(path: file.relativePath, reason: rejected.reason))
            }
        }
        return batch
    }
}
