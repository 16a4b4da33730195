import HesperModel
import HesperStore

/// What became of the files, or of the objects of an archive, that were imported.
struct ImportReport: Sendable, Equatable {
    /// Notes that were not there before.
    var new = 0
    /// Notes that the import changed.
    var changed = 0
    /// Notes that had all of it already, or have gone on from it.
    var unchanged = 0
    /// Notes that were deleted, and stay so.
    var deleted = 0
    /// Tags that were made.
    var tags = 0
    /// Attachments, apps' own objects and DeletedObjects of an archive that were not there before.
    var attachments = 0
    var objects = 0
    var deletions = 0
    /// Files that became no note, and objects that were refused in part or whole.
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
        attachments += other.attachments
        objects += other.objects
        deletions += other.deletions
        skipped += other.skipped
        passedOver += other.passedOver
    }

    /// In a sentence.
    var summary: String {
        func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
        var parts = [
            "\(count(new, "new note"))", "\(changed) changed", "\(unchanged) unchanged", count(tags, "new tag"),
        ]
        if attachments > 0 { parts.append(count(attachments, "new attachment")) }
        if objects > 0 { parts.append(count(objects, "new object")) }
        if deletions > 0 { parts.append(count(deletions, "deletion")) }
        if deleted > 0 { parts.append("\(deleted) deleted before and left so") }
        if !skipped.isEmpty { parts.append("\(count(skipped.count, "file")) skipped") }
        if passedOver > 0 { parts.append("\(count(passedOver, "other file")) passed over") }
        return parts.joined(separator: ", ") + "."
    }
}

extension ImportReport {
    /// Of one push.
    init(of notes: [SourceNote], _ applied: Scope.PushResult) {
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

extension ImportReport {
    /// Of one push of an archive's objects.
    /// - Parameters:
    ///   - again: the push of what was stamped anew, if there was any.
    ///   - missing: why attachments are not here.
    init(
        of elements: [Push.Element], _ applied: Scope.PushResult, _ again: Scope.PushResult?,
        _ missing: [UniqueID: String]
    ) {
        self.init()
        for (element, receipt) in zip(elements, applied.receipts) {
            let place = receipt.uniqueID.map { "\(receipt.objectType ?? "object") \($0)" } ?? receipt.pointer
            for (field, problem) in receipt.refusals {
                let reason = problem.slug == .attachmentDataMissing ? receipt.uniqueID.flatMap { missing[$0] } : nil
                skipped.append(Skipped(path: place + (field.map { ", \($0)" } ?? ""), reason: reason ?? problem.detail))
            }
            guard let id = receipt.uniqueID else { continue }
            switch element {
            case .deletion: deletions += receipt.status == .applied || receipt.status == .merged ? 1 : 0
            case .change(let change):
                let isNew = applied.created.contains(id) || again?.created.contains(id) == true
                let isChanged = applied.sequences[id] != nil || again?.sequences[id] != nil
                switch change.section {
                case .notes where receipt.status == .deleted: deleted += 1
                case .notes where isNew: new += 1
                case .notes where isChanged: changed += 1
                case .notes where receipt.problem == nil: unchanged += 1
                case .tags where isNew: tags += 1
                case .attachments where isNew: attachments += 1
                case .objects where isNew: objects += 1
                default: break
                }
            case .rejected: break
            }
        }
    }
}

extension Receipt {
    /// Why something of it was refused.
    fileprivate var refusal: Problem? { refusals.first?.problem }

    /// All of it that was refused, and stays so: clocks that are ahead are stamped anew.
    fileprivate var refusals: [(field: String?, problem: Problem)] {
        if let problem { return [(nil, problem)] }
        return fields.sorted { $0.key < $1.key }.compactMap { field, outcome in
            outcome.problem.flatMap { $0.slug == .clockAhead ? nil : (field, $0) }
        }
    }
}
