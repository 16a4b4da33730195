import HesperModel
import HesperServer

/// Reads the files of a source, a push's worth at a time.
struct SourceBatches {
    /// What one push brings.
    struct Batch: Sendable {
        var notes: [SourceNote] = []
        var skipped: [ImportReport.Skipped] = []
        /// Files that it stands for.
        var count = 0
    }

    private var source: any TextSource
    private var index = 0
    private var seen: Set<UniqueID> = []

    init(_ source: any TextSource) { self.source = source }

    /// Nil at the end.
    /// - Throws: what makes it useless to go on, such as an archive that is broken.
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
                    throw SourceFile.Unusable(
                        reason: "Another file has the same name but for how its accents are written.")
                }
                batch.notes.append(note)
                bytes += file.byteCount
            } catch let unusable as SourceFile.Unusable {
                batch.skipped.append(ImportReport.Skipped(path: file.relativePath, reason: unusable.reason))
            }
        }
        return batch
    }
}
