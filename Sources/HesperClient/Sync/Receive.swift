internal import Foundation
internal import GRDB
internal import HesperModel

/// The result of processing a response of sync or a page of the event stream.
struct Received {
    /// The slugs that the server returned for edits whose clocks it refused. These edits get new clocks and are sent again. For
    /// `clock-reused`, this happens after the user has signed in again.
    var refusedClocks: Set<String> = []
    /// Whether processing the response made changes that must be sent.
    var hasNewEdits = false
}

/// Processes a response of sync or a page of the event stream: receipts and changes of the server, in one transaction
/// with the sync token (clients.md, rules 3 to 5, 9, 14).
extension RecordsTransaction {
    /// The slugs that the server returns for an edit whose clock it refuses. Such an edit gets a new clock.
    private static let clockRefusals: Set<String> = ["clock-ahead", "clock-reused"]
    private static let overQuota = "quota-exceeded"

    /// Processes a page.
    /// - Parameter push: the push that the page answers; empty for an event.
    func receive(_ page: JSON, answering push: PushBatch) throws -> Received {
        if let serverClock = page["serverClock"]?.clock {
            try withClock { $0.learn(serverClock, sent: push.sent, received: now) }
        }
        let isReading = try sync.isReading
        let results = page["results"]?.elements ?? []
        var received = Received()
        var freed: [FreedAttachments] = []
        received.refusedClocks = try takeReceipts(push, results, &freed)

        let changes = page["changes"]
        var deletedTypes = Set(push.deletions.map(\.deleted.objectType.name))
        var rescues: [LocalObject] = []
        for json in changes?["deletedObjects"]?.elements ?? [] {
            guard let deleted = DeletedObject(json: json) else { continue }
            deletedTypes.insert(deleted.objectType.name)
            if let rescue = try take(deleted, push) { rescues.append(rescue) }
        }
        // Texts are rescued only after all DeletedObjects of the page were processed, because the object to which a text would be
        // moved may be deleted by the same page.
        for object in rescues { try keepWords(of: object) }
        for member in changes?.members ?? [] where member.name != "deletedObjects" {
            for state in member.value.elements {
                guard let theirs = LocalObject(section: member.name, state: state), try !isDeleted(theirs.id) else {
                    continue
                }
                if let latest = theirs.registers.values.map(\.clock).max() { try withClock { $0.observe(latest) } }
                let ours = try object(theirs.id, type: theirs.type)
                var object = ours ?? LocalObject(id: theirs.id, type: theirs.type)
                if object.fold(fixed: theirs.fixed, registers: theirs.registers) || ours == nil { try save(object) }
                if isReading, let ours, ours.isAcknowledged { try compare(ours, with: theirs) }
                if let released = FreedAttachments(theirs, since: ours) { freed.append(released) }
            }
        }
        let isHolderDeleted = deletedTypes.contains { $0 != TypeName.tag && $0 != TypeName.attachment }
        try retryAttachments(freed: freed, isHolderDeleted: isHolderDeleted)

        if received.refusedClocks.contains("clock-reused") {
            try withSync { sync in
                sync.signInAgain = .copied
                sync.hasReusedClocks = true
            }
        } else if !received.refusedClocks.isEmpty {
            try stampAgain()
        }
        if results.contains(where: { $0["problem"]?["slug"]?.string == RecordsTransaction.overQuota }) {
            try waitForSpace()
        }
        let isLastPage = page["hasMore"]?.bool == false
        try withSync { sync in
            sync.token = page["syncToken"]?.string ?? sync.token
            sync.serverDigest = isLastPage ? page["digest"]?.string.flatMap(Digest.init(text:)) : nil
            guard isLastPage else { return }
            sync.lastSync = now
            sync.isReading = false
        }
        received.hasNewEdits = hasNewEdits
        return received
    }

    // MARK: Receipts

    private struct ReceiptKey: Hashable {
        let id: UniqueID
        let isDeletion: Bool
    }

    /// Processes the receipts of a push.
    /// - Parameter freed: a list to which this function adds the attachments that objects of the push released.
    /// - Returns: the slugs that the server returned for edits whose clocks it refused.
    private func takeReceipts(
        _ push: PushBatch, _ results: [JSON], _ freed: inout [FreedAttachments]
    ) throws -> Set<String> {
        var receipts: [ReceiptKey: JSON] = [:]
        for receipt in results {
            guard let id = receipt["uniqueID"]?.id else { continue }
            // One push may contain an object and its DeletedObject, which have the same ID. The pointer of a receipt shows to which
            // of the two the receipt belongs.
            let isDeletion = receipt["pointer"]?.string?.hasPrefix("/changes/deletedObjects") ?? false
            receipts[ReceiptKey(id: id, isDeletion: isDeletion)] = receipt
        }
        var refusedClocks: Set<String> = []
        for deletion in push.deletions {
            let id = deletion.deleted.uniqueID
            if let receipt = receipts[ReceiptKey(id: id, isDeletion: true)] { try take(receipt, of: deletion) }
            if push.isRelay { try removeRelay(id) }
        }
        for part in push.parts {
            if let receipt = receipts[ReceiptKey(id: part.id, isDeletion: false)] {
                let before = try object(part.id, type: part.type)
                refusedClocks.formUnion(try take(receipt, of: part, isRelay: push.isRelay))
                if let after = try object(part.id, type: part.type),
                    let released = FreedAttachments(after, since: before)
                {
                    freed.append(released)
                }
            }
            if push.isRelay { try markGiven(part) }
        }
        return refusedClocks
    }

    private func take(_ receipt: JSON, of deletion: LocalDeletion) throws {
        try removeDeletion(of: deletion.deleted.uniqueID)
        if receipt["status"]?.string == "rejected" {
            let type = deletion.deleted.objectType.name
            try shelve(deletion.deleted.uniqueID, type: type, receipt["problem"], isDeletion: true)
        } else {
            try put(deletion.deleted)
        }
    }

    /// Processes the receipt of an object: acknowledged edits become registers, rejected edits are kept as rejected changes, and
    /// edits over the quota are held.
    /// - Returns: the slugs that the server returned for edits whose clocks it refused.
    private func take(_ receipt: JSON, of part: PushBatch.Part, isRelay: Bool) throws -> Set<String> {
        // The object was deleted on the server, and the same response contains its DeletedObject. Processing the DeletedObject
        // rescues the unsent texts.
        if receipt["status"]?.string == "deleted" { return [] }
        let problem = receipt["problem"]
        if problem?["slug"]?.string == RecordsTransaction.overQuota {
            try hold(part, isRelay: isRelay)
            return []
        }
        if try isDeleted(part.id) { return [] }
        var object = try object(part.id, type: part.type) ?? LocalObject(id: part.id, type: part.type)
        let fields = receipt["fields"]
        var acknowledged = (fixed: [String: Value](), registers: [String: Cell]())
        if let made = part.made {
            object.made = nil
            if let problem {
                if isRelay { try giveUp(nil, of: &object) }
                if try problem["slug"]?.string == "attachment-data-missing" && hasBytes(part.id) {
                    object.made = made
                    object.made?.needsBytes = true
                } else {
                    try shelve(part.id, type: part.type, problem)
                }
            } else {
                acknowledged.fixed = made.fixed.filter { fields?[$0.key]?["outcome"]?.string != "rejected" }
            }
        }
        var refusedClocks: Set<String> = []
        for (attribute, sent) in part.edits.sorted(by: { $0.key < $1.key }) {
            // The receipt may refuse a set, such as the tags of a note, as a whole. Each member of the set is then refused.
            let receipt = fields?[attribute] ?? fields?[AttributeName.split(attribute).section]
            let outcome = receipt?["outcome"]?.string
            if outcome == "deleted" { continue }
            let refusal = receipt?["problem"] ?? problem
            let slug = refusal?["slug"]?.string ?? ""
            let standing = object.edits[attribute]
            if refusal != nil && isRelay { try giveUp(attribute, of: &object) }
            if RecordsTransaction.clockRefusals.contains(slug) {
                refusedClocks.insert(slug)
                if standing == nil {
                    // The register was resent to a restored server, and another device may have set it. The register becomes an
                    // unsent edit of this device, because only unsent edits get new clocks.
                    object.edits[attribute] = sent
                } else {
                    object.edits[attribute]?.descent?.forget([sent.clock])
                }
                continue
            }
            if let refusal {
                try shelve(part.id, type: part.type, refusal, attribute: attribute, sent.cell)
            } else {
                acknowledged.registers[attribute] = sent.cell
                let words =
                    receipt?["superseded"]?.elements.compactMap { $0["text"]?.string }.filter { !$0.isEmpty } ?? []
                if !words.isEmpty {
                    try add(
                        Notice(
                            kind: .merged, id: part.id, type: part.type, attribute: attribute, texts: words,
                            clock: receipt?["clock"]?.clock, moment: now))
                }
            }
            guard let standing else { continue }
            if standing.clock == sent.clock {
                object.edits[attribute] = nil
            } else if standing.descent?.after.contains(sent.clock) == true {
                guard refusal == nil, case .string(let words) = sent.value else {
                    object.edits[attribute]?.descent?.forget([sent.clock])
                    continue
                }
                // The text was edited again since it was sent: the new text descends from the acknowledged one.
                object.edits[attribute]?.descent?.base = LocalEdit.Base(words, at: sent.clock)
                object.edits[attribute]?.descent?.isMoved = false
                object.edits[attribute]?.descent?.forget(sent.descent?.after ?? [sent.clock])
            }
        }
        for cell in acknowledged.registers.values { try withClock { $0.observe(cell.clock) } }
        object.fold(fixed: acknowledged.fixed, registers: acknowledged.registers)
        if object.isPending || !object.registers.isEmpty || !object.fixed.isEmpty {
            try save(object)
        } else if problem == nil, part.made != nil, object.isAcknowledged {
            // An acknowledged object without values is kept, because an object of an app may have no attributes. In contrast, a tag
            // whose name was rejected is not acknowledged, and is removed.
            try save(object)
        } else {
            try remove(object)
        }
        return refusedClocks
    }

    private func shelve(
        _ id: UniqueID, type: String, _ problem: JSON?, attribute: String? = nil, _ rejected: Cell? = nil,
        isDeletion: Bool = false
    ) throws {
        try add(
            ShelvedChange(
                id: id, type: type, attribute: attribute, value: rejected?.value, isDeletion: isDeletion,
                slug: problem?["slug"]?.string ?? "unexpected", detail: problem?["detail"]?.string ?? "",
                clock: rejected?.clock, moment: now))
    }

    // MARK: Deleted objects

    /// Processes a DeletedObject.
    /// - Returns: the deleted object, if it has unsent texts that must be rescued.
    private func take(_ deleted: DeletedObject, _ push: PushBatch) throws -> LocalObject? {
        let id = deleted.uniqueID
        let isOwn = try deletion(of: id) != nil
        let before = try put(deleted)
        if let standing = try self.deleted(id), standing.mergedInto == deleted.mergedInto,
            standing.rescuedInto == deleted.rescuedInto
        {
            try removeRelay(id)
        }
        if let before, before.type == TypeName.attachment, !isOwn { try uploadAgain(before) }
        let isOfPush = !push.isRelay && push.deletions.contains { $0.deleted.uniqueID == id }
        if let into = deleted.rescuedInto, isOwn || isOfPush {
            // This device deleted the object without having received all of its texts.
            try add(Notice(kind: .unseen, id: id, type: deleted.objectType.name, into: into, moment: now))
        }
        try removeDeletion(of: id)
        guard !isOwn, let before, !before.unsentTexts.isEmpty else { return nil }
        return before
    }

    /// Moves the unsent texts of a deleted object to its rescue object: the object into which the server rescued the deleted
    /// object. A text cannot be moved if there is no rescue object, if the rescue object is deleted, or if the rescue object has an
    /// unsent edit of the same attribute. Creates a new object for the texts that cannot be moved (clients.md, rule 4).
    private func keepWords(of object: LocalObject) throws {
        var texts = object.unsentTexts
        if let into = try rescueObject(of: object.id), try !isDeleted(into), try deletion(of: into) == nil {
            var target = try self.object(into, type: object.type) ?? LocalObject(id: into, type: object.type)
            let moved = texts.filter { target.edits[$0.key] == nil }
            for (attribute, text) in moved.sorted(by: { $0.key < $1.key }) {
                var edit = LocalEdit(text.value, at: try tick(), descent: text.descent)
                edit.descent?.after = (text.descent?.after ?? []).suffix(Limits.textAfter - 1)
                edit.descent?.last = nil
                edit.descent?.isMoved = true
                target.edits[attribute] = edit
                texts[attribute] = nil
            }
            if !moved.isEmpty {
                try save(target)
                noteNewEdits()
                try add(Notice(kind: .rescued, id: object.id, type: object.type, into: into, moment: now))
            }
        }
        if !texts.isEmpty { try rescue(object, texts) }
    }

    /// The object into which a deleted object was rescued; nil if it was not rescued. If that object was deleted too, its own rescue
    /// is followed, and so on, for at most ten rescues. The returned object may be deleted.
    private func rescueObject(of id: UniqueID) throws -> UniqueID? {
        var into = try deleted(id)?.rescuedInto
        for _ in 0..<9 {
            guard let current = into, let next = try deleted(current)?.rescuedInto else { break }
            into = next
        }
        return into
    }

    /// Creates an object with unsent texts of a deleted object. A note also gets the creation date, the tags and the attachments of
    /// the deleted note. The ID is derived from the old ID and the texts, so that two devices that rescue the same texts create the
    /// same object.
    private func rescue(_ object: LocalObject, _ texts: [String: LocalEdit]) throws {
        let texts = texts.sorted { $0.key < $1.key }
        let words = texts.compactMap { $0.value.value.json.string }
        var new = LocalObject(
            id: UniqueID.derived(from: words.joined(separator: "\n"), in: object.id), type: object.type)
        var values = texts.map { (attribute: $0.key, value: $0.value.value) }
        if object.type == TypeName.note {
            let date = try object.value(AttributeName.creationDate) ?? .string(clock.now(now).description)
            new.made = LocalObject.Made(fixed: [AttributeName.creationDate: date])
            for section in ["tags", "attachments"] {
                values += try members(of: object, section).map { ("\(section).\($0)", .bool(true)) }
            }
        }
        guard try insert(new, values: values) != nil else { return }
        try add(Notice(kind: .rescued, id: object.id, type: object.type, into: new.id, texts: words, moment: now))
    }

    // MARK: Attachments

    /// Uploads the bytes of a deleted attachment again. Each object that contains the deleted attachment gets its own new
    /// attachment with these bytes. Does nothing if the bytes are not on this device.
    private func uploadAgain(_ attachment: LocalObject) throws {
        guard let file = try file(of: attachment.id) else { return }
        for var holder in try holders(of: attachment.id) {
            var copy = LocalObject(
                id: UniqueID.derived(from: holder.id.description, in: attachment.id), type: TypeName.attachment)
            copy.made = LocalObject.Made(fixed: attachment.visibleFixed, needsBytes: true)
            guard try insert(copy, values: []) != nil else { continue }
            let byteCount = attachment.visibleFixed["byteCount"]?.json.integer ?? 0
            try setBytes(of: copy.id, file: file, byteCount: byteCount)
            for (attribute, cell) in holder.visible.sorted(by: { $0.key < $1.key })
            where AttributeName.heldAttachment(attribute, cell.value) == attachment.id {
                if holder.type == TypeName.note {
                    try edit(&holder, AttributeName.attachment(copy.id), .bool(true))
                } else {
                    try edit(&holder, attribute, .string(copy.id.description))
                }
            }
            try save(holder)
        }
    }

    /// The notes that contain an attachment, and the app objects that have it as the value of a file attribute.
    private func holders(of attachment: UniqueID) throws -> [LocalObject] {
        var holders: [LocalObject] = []
        for type in try types where type != TypeName.tag && type != TypeName.attachment {
            let condition =
                type == TypeName.note
                ? "body ->> ('$.\"attachments.' || ?1 || '\"') = 1"
                : "EXISTS (SELECT 1 FROM json_each(body) WHERE key >= 'files.' AND key < 'files/' AND value = ?1)"
            let sql = "SELECT id FROM \(LocalDatabase.table(type)) WHERE \(condition) ORDER BY row"
            let ids = try Row.fetchAll(database, sql: sql, arguments: [attachment.description])
            holders += try ids.compactMap(UniqueID.init(row:)).compactMap { try object($0, type: type) }
        }
        return holders
    }

    /// Retries edits that the server refused because another object had the attachment (`attachment-in-use`). An edit is retried if
    /// another object may have released the attachment. A register that was set after the refused edit is left unchanged.
    /// - Parameters:
    ///   - freed: the attachments that objects released.
    ///   - isHolderDeleted: whether an object that can have attachments was deleted. If so, all these edits are retried, because
    ///     the deleted object may have had the attachment.
    private func retryAttachments(freed: [FreedAttachments], isHolderDeleted: Bool) throws {
        guard isHolderDeleted || !freed.isEmpty else { return }
        for change in try shelf() where change.slug == "attachment-in-use" {
            guard let attribute = change.attribute, let value = change.value,
                let attachment = AttributeName.heldAttachment(attribute, value)
            else { continue }
            let isFree = isHolderDeleted || freed.contains { $0.holder != change.id && $0.mayContain(attachment) }
            guard isFree, var object = try object(change.id, type: change.type) else { continue }
            if let refused = change.clock, let standing = object.cell(attribute), standing.clock > refused { continue }
            try removeFromShelf(change.number)
            try edit(&object, attribute, value)
            try save(object)
        }
    }
}

/// The attachments that an object released: they are no longer among its members or files.
private struct FreedAttachments {
    let holder: UniqueID
    private var removed: Set<UniqueID> = []
    /// Whether a file attribute of the object has changed. If so, the object may have released any attachment, because the
    /// attribute may have changed several times, and this device may not know all of its former values.
    private var hasOtherFile = false

    /// The attachments that an object may have released since `before`; nil if there are none.
    init?(_ object: LocalObject, since before: LocalObject?) {
        holder = object.id
        for (attribute, cell) in object.registers where before?.registers[attribute]?.clock != cell.clock {
            if attribute.hasPrefix("files.") {
                hasOtherFile = true
            } else if cell.value == .bool(false) {
                if let id = AttributeName.heldAttachment(attribute, .bool(true)) { removed.insert(id) }
            }
        }
        if removed.isEmpty && !hasOtherFile { return nil }
    }

    func mayContain(_ attachment: UniqueID) -> Bool { hasOtherFile || removed.contains(attachment) }
}

extension LocalEdit.Descent {
    /// Removes clocks from `after`, because the receipts of their texts have arrived. This makes room for the clock of a new text.
    fileprivate mutating func forget(_ clocks: [Clock]) {
        after.removeAll(where: clocks.contains)
        last = nil
    }
}
