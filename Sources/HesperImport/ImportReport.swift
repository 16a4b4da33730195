import HesperModel
import HesperMoveIn
import HesperStore

/// The result of an import of notes or of an archive.
public struct ImportReport: Sendable, Equatable {
    /// The number of notes that the import created.
    public var new = 0
    /// The number of existing notes that the import changed.
    public var changed = 0
    /// The number of notes that already contained the imported state or a later one.
    public var unchanged = 0
    /// The number of notes that had been deleted and stay deleted.
    public var deleted = 0
    /// The number of tags that the import created.
    public var tags = 0
    /// The number of attachments that the import created.
    public var attachments = 0
    /// The number of new app objects from an archive.
    public var objects = 0
    /// The number of new DeletedObjects from an archive.
    public var deletions = 0
    /// The notes, parts of notes and files that could not be imported, and the objects that were refused completely or in part.
    public var skipped: [Skipped] = []
    /// The number of notes that were in the trash when they were exported. They are not imported.
    public var trashed = 0
    /// The number of files that are neither notes nor parts of notes.
    public var ignored = 0

    public struct Skipped: Sendable, Equatable {
        public let path: String
        public let reason: String

        public init(path: String, reason: String) { (self.path, self.reason) = (path, reason) }
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
        trashed += other.trashed
        ignored += other.ignored
    }

    /// The report as a sentence.
    public var summary: String {
        var parts = [
            "\(counted(new, "new note"))", "\(changed) changed", "\(unchanged) unchanged", counted(tags, "new tag"),
        ]
        if attachments > 0 { parts.append(counted(attachments, "new attachment")) }
        if objects > 0 { parts.append(counted(objects, "new object")) }
        if deletions > 0 { parts.append(counted(deletions, "deletion")) }
        if deleted > 0 { parts.append("\(deleted) previously deleted") }
        if trashed > 0 { parts.append("\(trashed) in the trash not imported") }
        if !skipped.isEmpty { parts.append("\(skipped.count) skipped") }
        if ignored > 0 { parts.append("\(counted(ignored, "other file")) ignored") }
        return parts.joined(separator: ", ") + "."
    }
}

extension ImportReport {
    /// The report of one push of notes.
    init(of notes: [SourceNote], _ applied: Scope.PushResult) {
        self.init()
        var receipts: [UniqueID: Receipt] = [:]
        for receipt in applied.receipts {
            guard let id = receipt.uniqueID else { continue }
            receipts[id] = receipt
            guard applied.created.contains(id) else { continue }
            if receipt.objectType == ObjectType.tag.name { tags += 1 }
            if receipt.objectType == ObjectType.attachment.name { attachments += 1 }
        }
        for note in notes {
            let receipt = receipts[note.uniqueID]
            if let problem = receipt?.refusal {
                skipped.append(Skipped(path: note.path, reason: problem.detail))
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
    /// The report of one push of objects from an archive.
    /// - Parameters:
    ///   - again: the result of a second push, which contained the edits with new clocks. Nil if there was no second push.
    ///   - missing: the attachments that could not be stored, with the reasons.
    init(
        of elements: [Push.Element], _ applied: Scope.PushResult, _ again: Scope.PushResult?,
        _ missing: [UniqueID: String]
    ) {
        self.init()
        for (element, receipt) in zip(elements, applied.receipts) {
            let object = receipt.uniqueID.map { "\(receipt.objectType ?? "object") \($0)" } ?? receipt.pointer
            for (field, problem) in receipt.refusals {
                let reason = problem.slug == .attachmentDataMissing ? receipt.uniqueID.flatMap { missing[$0] } : nil
                skipped.append(
                    Skipped(path: object + (field.map { ", \($0)" } ?? ""), reason: reason ?? problem.detail))
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
    /// The first problem in ``refusals``; nil if there is none.
    fileprivate var refusal: Problem? { refusals.first?.problem }

    /// All problems of the receipt except `clock-ahead`. Edits with the problem `clock-ahead` are pushed again with new clocks.
    fileprivate var refusals: [(field: String?, problem: Problem)] {
        if let problem { return [(nil, problem)] }
        return fields.sorted { $0.key < $1.key }.compactMap { field, outcome in
            outcome.problem.flatMap { $0.slug == .clockAhead ? nil : (field, $0) }
        }
    }
}
