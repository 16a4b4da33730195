/// Merges one push into a scope: a pure function of the push, the contents of the bag, and the time (merge.md, One push).
///
/// Deletions are applied first, then registers and new objects. After that, words of deleted objects are kept in new objects, if
/// the deleting device had not seen these words. At the end, the names of tags are made unique, and each edit that adds an
/// attachment to a second object is rejected. Invalid fields are rejected one by one.
public struct Merge {
    private var draft: ScopeDraft
    private var texts = MergeTexts()
    private var rescues = MergeRescues()
    private var quota: MergeQuota
    /// The receipts that are being made, by the index of the element in the push.
    private var receipts: [Int: ReceiptDraft] = [:]

    /// Merges a push and returns the result. Nothing is written to the bag.
    /// - Throws: errors of the bag; ``Problem`` `too-large` if the objects that the push changes have more bytes in the bag than
    ///   ``Bounds/loadBytes``.
    public static func apply(_ push: Push, to bag: any Bag, in context: Context) throws -> MergeOutcome {
        var merge = Merge(draft: try ScopeDraft(push, bag, context), quota: MergeQuota(context.storageUse))
        for (index, element) in push.elements.enumerated() {
            if case .deletion(let deletion) = element { try merge.delete(deletion, index) }
        }
        for (index, element) in push.elements.enumerated() {
            if case .change(let change) = element { try merge.change(change, index) }
        }
        guard merge.texts.pendingMerges.isEmpty else { return MergeOutcome(pendingMerges: merge.texts.pendingMerges) }
        for (index, rescue) in try merge.rescues.make(in: &merge.draft, &merge.texts) {
            merge.receipts[index]?.rescue = rescue
        }
        try merge.draft.makeTagNamesUnique()
        try merge.checkHolders(push)
        return merge.outcome(of: push)
    }

    private init(draft: ScopeDraft, quota: MergeQuota) {
        self.draft = draft
        self.quota = quota
    }

    private func outcome(of push: Push) -> MergeOutcome {
        var outcome = MergeOutcome()
        outcome.parcels = draft.parcels.filter { !$0.edits.isEmpty }
        outcome.lostTexts = texts.lost
        outcome.changes = draft.changes
        for parcel in outcome.parcels {
            for case let clock? in parcel.edits.map(\.clock) {
                outcome.greatestClock = max(outcome.greatestClock ?? clock, clock)
                // After this server was restored from a backup, a device may resend an edit that the server made before the
                // restore. The clock of that edit is recorded here, so that the server does not make the same clock again.
                if clock.node == draft.context.server { outcome.serverClock = max(outcome.serverClock ?? clock, clock) }
            }
        }
        outcome.receipts = push.elements.enumerated().map { index, element in
            let receipt = receipts[index] ?? ReceiptDraft()
            switch element {
            case .rejected(let receipt): return receipt
            case .deletion(let deletion): return receipt.receipt(of: deletion)
            case .change(let change): return receipt.receipt(of: change, in: draft, texts)
            }
        }
        return outcome
    }

    // MARK: Deletions

    private mutating func delete(_ deletion: Deletion, _ index: Int) throws {
        let now = draft.context.now
        let deleted = DeletedObject(
            uniqueID: deletion.uniqueID, objectType: deletion.objectType, mergedInto: deletion.mergedInto,
            rescuedInto: deletion.rescuedInto, deletionDate: min(deletion.deletionDate ?? now, now))
        switch draft.state(deletion.uniqueID) {
        case .deleted(let current)? where current.objectType != deletion.objectType:
            receipts[index, default: ReceiptDraft()].problem = wrongType(
                current.objectType, deletion.uniqueID, at: "\(deletion.pointer)/objectType")
        case .deleted(var current)?:
            let changed = current.fold(deleted)
            if changed { draft.set(deletion.uniqueID, .deleted(current)) }
            let isTarget = current.mergedInto == deletion.mergedInto
            receipts[index, default: ReceiptDraft()].deletion = !isTarget ? .merged : changed ? .applied : .unchanged
        case .entity(let entity)? where !matches(entity, deletion.objectType):
            receipts[index, default: ReceiptDraft()].problem = wrongType(
                entity.objectType, deletion.uniqueID, at: "\(deletion.pointer)/objectType")
        case .entity(let entity)?:
            try rescues.add(entity, deletion, index, in: draft)
            draft.set(deletion.uniqueID, .deleted(deleted))
            receipts[index, default: ReceiptDraft()].deletion = .applied
        case nil:
            draft.set(deletion.uniqueID, .deleted(deleted))
            receipts[index, default: ReceiptDraft()].deletion = .applied
        }
    }

    private func matches(_ entity: Entity, _ type: ObjectType) -> Bool {
        entity.objectType.map { $0 == type } ?? type.isAppDefined
    }

    private func wrongType(_ type: ObjectType?, _ id: UniqueID, at pointer: String) -> Problem {
        Problem(
            .invalidField, "\(id) is already the ID of a \(type?.name ?? "object"). Use a new uniqueID.", at: pointer
        )
    }

    // MARK: Changes

    private mutating func change(_ change: Change, _ index: Int) throws {
        let id = change.uniqueID
        var receipt = ReceiptDraft(rejected: change.rejected)
        defer { receipts[index] = receipt }

        var entity: Entity
        switch draft.state(id) {
        case .entity(let current)?: entity = current
        case .deleted?, nil: entity = change.section.empty(id)
        }
        guard entity.section == change.section else {
            receipt.problem = wrongType(entity.objectType, id, at: "\(change.pointer)/uniqueID")
            return
        }
        // Edits of a deleted object are added to the bag, so that the list "Recently deleted" can show them. They are not folded.
        var isDeleted = false
        if case .deleted? = draft.state(id) { isDeleted = true }
        var edits = change.edits
        if change.section == .attachments, !isDeleted, let problem = try addData(to: &edits, of: entity, change) {
            receipt.problem = problem
            return
        }
        if let problem = try quota.refusal(of: edits, of: entity, change, in: draft) {
            receipt.problem = problem
            return
        }
        let parcel = draft.add(Parcel(object: id, objectType: entity.objectType ?? type(change), edits: []))
        defer { quota.count(draft.parcels[parcel...]) }
        receipt.parcel = parcel

        for edit in edits {
            let field = edit.attribute.description
            let pointer = self.pointer(of: edit.attribute, in: change)
            guard let clock = edit.clock else {
                if let problem = immutable(edit, in: entity, at: pointer) {
                    receipt.rejected[field] = problem
                } else {
                    let isKnown = !entity.fold(edit)
                    receipt.edits.append((edit, isKnown))
                    if !isKnown { draft.append(edit, to: parcel) }
                }
                continue
            }
            switch try draft.lookUp(edit, clock, of: id, current: entity.register(edit.attribute)) {
            case .sameValue:
                receipt.edits.append((edit, true))
                continue
            case .differentValue:
                receipt.rejected[field] = Problem(
                    .clockReused,
                    "The clock of \(field) was already used for another value: two copies of this device exist. "
                        + "Sign in again to get a new node, then set the field again.",
                    at: pointer)
                continue
            case .absent: break
            }
            let problem =
                draft.revoked(clock, field: field, pointer: pointer)
                ?? draft.ahead(clock, field: field, pointer: pointer) ?? limitReached(edit, in: entity, at: pointer)
            if let problem {
                receipt.rejected[field] = problem
                continue
            }
            let target = draft.parcel(for: edit, beside: parcel)
            if edit.attribute.isText, !isDeleted {
                try texts.merge(change.text(edit, at: clock), into: &entity, parcel: target, in: &draft)
            } else {
                draft.append(edit, to: target)
                entity.fold(edit)
            }
            receipt.edits.append((edit, false))
        }
        if isDeleted, draft.parcels[parcel].edits.allSatisfy({ $0.clock == nil }) {
            // For an edit without a clock, the server cannot tell whether the bag already contains this edit. If the change
            // contains no new edit with a clock, the server assumes that the whole change was sent before.
            draft.clear(parcel)
        }
        if !isDeleted, !draft.parcels[parcel].edits.isEmpty || draft.state(id) != nil { draft.set(id, .entity(entity)) }
    }

    private func type(_ change: Change) -> ObjectType? {
        for edit in change.edits where edit.attribute == .objectType {
            if case .string(let name)? = edit.value { return ObjectType(name) }
        }
        return change.section.objectType
    }

    /// The JSON Pointer to an attribute in the request.
    private func pointer(of attribute: Attribute, in change: Change) -> String {
        switch attribute {
        case .tag(let id): "\(change.pointer)/clocks/tags/\(id)"
        case .attachment(let id): "\(change.pointer)/clocks/attachments/\(id)"
        case .custom(let name): "\(change.pointer)/attributes/\(name)"
        case .namedText(let name): "\(change.pointer)/texts/\(name)"
        case .file(let name): "\(change.pointer)/files/\(name)"
        case .field(let field): "\(change.pointer)/\(field.rawValue)"
        }
    }

    // MARK: Rejections

    /// The problem if an edit changes an attribute that is set once. Nil if the attribute is unset or already has this value.
    private func immutable(_ edit: Edit, in entity: Entity, at pointer: String) -> Problem? {
        guard case .field(let field) = edit.attribute, let current = entity.content[field], current != edit.value
        else {
            return nil
        }
        switch field.rule {
        case .register, .earliest: return nil
        case .once:
            return Problem(.immutable, "\(field.rawValue) of an attachment cannot be changed.", at: pointer)
        case .type:
            let type = entity.objectType?.name ?? "object"
            return Problem(.immutable, "This object is a \(type). Its objectType cannot be changed.", at: pointer)
        }
    }

    /// The problem if an edit adds an attribute or a member to an object that already has the maximum number of them; nil if the
    /// limit is not exceeded.
    private func limitReached(_ edit: Edit, in entity: Entity, at pointer: String) -> Problem? {
        guard entity.register(edit.attribute) == nil else { return nil }
        let content = entity.content
        let (count, limit, what): (Int, Int, String)
        switch edit.attribute {
        case .field: return nil
        case .tag: (count, limit, what) = (content.tags.count, Limits.members, "tags, including removed ones")
        case .attachment:
            (count, limit, what) = (content.attachments.count, Limits.members, "attachments, including removed ones")
        case .custom:
            (count, what) = (content.attributes.count, "attributes")
            limit = entity.section == .objects ? Limits.objectAttributes : Limits.attributes
        case .namedText:
            (count, limit, what) = (content.texts.count, Limits.objectTexts, "texts, including emptied ones")
        case .file: (count, limit, what) = (content.files.count, Limits.objectFiles, "files, including removed ones")
        }
        guard count >= limit else { return nil }
        return Problem(
            .invalidField, "The object already has the maximum of \(limit) \(what).", at: pointer,
            context: ["limit": .integer(Int64(limit))])
    }

    // MARK: Attachments

    /// Adds the size and hash of an attachment's bytes to the pushed edits.
    /// - Returns: the problem if the bytes are missing, or if the push states another size or hash.
    private func addData(to edits: inout [Edit], of entity: Entity, _ change: Change) throws -> Problem? {
        guard !entity.exists else { return nil }
        guard let data = try draft.bag.attachmentData(of: change.uniqueID) else {
            return Problem(
                .attachmentDataMissing,
                "The bytes of attachment \(change.uniqueID) are missing. Upload them, then push the attachment again.",
                at: change.pointer)
        }
        let facts = [Edit(.byteCount, .integer(data.byteCount), at: nil), Edit(.sha256, .string(data.sha256), at: nil)]
        for fact in facts {
            if let sent = edits.first(where: { $0.attribute == fact.attribute }), sent.value != fact.value {
                return Problem(
                    .immutable, "\(fact.attribute.description) does not match the uploaded bytes.",
                    at: "\(change.pointer)/\(fact.attribute.description)")
            }
        }
        edits.removeAll { $0.attribute == .byteCount || $0.attribute == .sha256 }
        edits += facts
        return nil
    }

    /// Rejects each edit that adds an attachment to a second note or app object. An attachment can belong to only one live object.
    /// The other edits of the element are applied.
    private mutating func checkHolders(_ push: Push) throws {
        var holders: [UniqueID: Set<UniqueID>] = [:]
        for id in draft.touched {
            guard case .entity(let entity)? = draft.state(id) else { continue }
            for member in entity.heldAttachments { holders[member, default: []].insert(id) }
        }
        for (index, element) in push.elements.enumerated() {
            guard case .change(let change) = element, var receipt = receipts[index], let parcel = receipt.parcel
            else { continue }
            let id = change.uniqueID
            for (edit, isKnown) in receipt.edits where !isKnown {
                guard let member = edit.attribute.heldAttachment(edit.value), holders[member]?.contains(id) == true
                else { continue }
                let others = try draft.untouchedHolders(of: member) + (holders[member] ?? [])
                guard let other = others.filter({ $0 != id }).min() else { continue }
                receipt.rejected[edit.attribute.description] = Problem(
                    .attachmentInUse, "Attachment \(member) belongs to \(other). Create a copy with its own uniqueID.",
                    at: pointer(of: edit.attribute, in: change))
                receipt.edits.removeAll { $0.edit == edit }
                draft.remove(edit, of: id, from: parcel)
                if !holds(id, member) { holders[member]?.remove(id) }
            }
            receipts[index] = receipt
        }
    }

    private func holds(_ id: UniqueID, _ attachment: UniqueID) -> Bool {
        guard case .entity(let entity)? = draft.state(id) else { return false }
        return entity.heldAttachments.contains(attachment)
    }
}
