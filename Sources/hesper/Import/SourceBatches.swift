import HesperModel
import HesperServer

/// Reads a folder's files, a push's worth at a time.
struct SourceBatches {
    /// What one push brings.
    struct Batch: Sendable {
        var notes: [SourceNote] = []
        var skipped: [ImportReport.Skipped] = []
        /// Files that it stands for.
        var count = 0
    }

    private let folder: SourceFolder
    private var index = 0
    private var seen: Set<UniqueID> = []

    init(_ folder: SourceFolder) { self.folder = folder }

    /// Nil at the end.
    mutating func next() -> Batch? {
        guard index < folder.files.count else { return nil }
        var batch = Batch()
        var bytes = 0
        while index < folder.files.count, batch.notes.count < Importer.pushNotes, bytes < Importer.pushBytes {
            let file = folder.files[index]
            index += 1
            batch.count += 1
            do {
                let note = try SourceNote(file, in: folder.name, now: .now)
                guard seen.insert(note.uniqueID).inserted else {
                    throw SourceFile.Unusable(
                        reason: "Another file has the same name but for how its accents are written.")
                }
                batch.notes.append(note)
                bytes += file.byteCount
            } catch let unusable as SourceFile.Unusable {
                batch.skipped.append(ImportReport.Skipped(path: file.relativePath, reason: unusable.reason))
            } catch {
                batch.skipped.append(ImportReport.Skipped(path: file.relativePath, reason: "\(error)"))
            }
        }
        return batch
    }
}
