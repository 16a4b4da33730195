import HesperModel
import HesperStore

/// What became of the files of an import.
struct ImportReport: Sendable, Equatable {
    /// Notes that were not there before.
    var new = 0
    /// Notes whose text the files changed.
    var changed = 0
    /// Notes that had the files' text already, or have gone on from it.
    var unchanged = 0
    /// Notes that were deleted, and stay so.
    var deleted = 0
    /// Tags that were made for folders.
    var tags = 0
    /// Files that became no note, though they should have.
    var skipped: [Skipped] = []
    /// Files that are none of the import's business.
    var passedOver = 0

    struct Skipped: Sendable, Equatable {
        let path: String
        let reason: String
    }

    mutating func add(_ other: ImportReport) {
        new += other.new
        changed += other.changed
        unchanged += other.unchanged
        deleted += other.deleted
        tags += other.tags
        skipped += other.skipped
        passedOver += other.passedOver
    }

    /// In a sentence.
    var summary: String {
        func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
        var parts = [
            "\(count(new, "new note"))", "\(changed) changed", "\(unchanged) unchanged", count(tags, "new tag"),
        ]
        if deleted > 0 { parts.append("\(deleted) deleted before and left so") }
        if !skipped.isEmpty { parts.append("\(count(skipped.count, "file")) skipped") }
        if passedOver > 0 { parts.append("\(count(passedOver, "other file")) passed over") }
        return parts.joined(separator: ", ") + "."
    }
}

extension ImportReport {
    /// Of one push.
    init(of notes: [SourceNote], _ applied: Scope.Applied) {
        self.init()
        var receipts: [UniqueID: Receipt] = [:]
        for receipt in applied.receipts {
            guard let id = receipt.uniqueID else { continue }
            receipts[id] = receipt
            if receipt.objectType == ObjectType.tag.name, applied.created.contains(id) { tags += 1 }
        }
        for note in notes {
            let receipt = receipts[note.uniqueID]
            if let problem = receipt?.refusal {
                skipped.append(Skipped(path: note.file.relativePath, reason: problem.detail))
            } else if receipt?.status == .deleted {
                deleted += 1
            } else if applied.created.contains(note.uniqueID) {
                new += 1
            } else if applied.sequences[note.uniqueID] != nil {
                changed += 1
            } else {
                unchanged += 1
            }
        }
    }
}

extension Receipt {
    /// Why something of it was refused.
    fileprivate var refusal: Problem? {
        guard status == .rejected else { return nil }
        return problem ?? fields.sorted { $0.key < $1.key }.lazy.compactMap(\.value.problem).first
    }
}
