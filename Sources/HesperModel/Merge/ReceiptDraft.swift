/// Collects the results for one element of a push until its receipt is written.
struct ReceiptDraft {
    /// The accepted edits of the element. `isKnown` is true if the bag already contained the edit.
    var edits: [(edit: Edit, isKnown: Bool)] = []
    /// The problems of the rejected fields, by the field's name.
    var rejected: [String: Problem] = [:]
    /// The reason why the whole element was rejected; nil if it was not rejected as a whole.
    var problem: Problem?
    /// The index of the element's parcel in ``ScopeDraft/parcels``; nil if it has no parcel.
    var parcel: Int?
    var deletion: Receipt.Status?
    /// The ID of the new object with the words that the deleting device had not seen; nil if there is none.
    var rescue: UniqueID?

    /// The receipt of a deletion.
    func receipt(of deletion: Deletion) -> Receipt {
        var receipt = Receipt(
            uniqueID: deletion.uniqueID, objectType: deletion.objectType.name, pointer: deletion.pointer,
            status: problem == nil ? self.deletion ?? .unchanged : .rejected, problem: problem)
        if let rescue {
            receipt.status = .rescued
            receipt.rescuedInto = rescue
        }
        return receipt
    }

    /// The receipt of a change, according to the state at the end of the push.
    func receipt(of change: Change, in draft: ScopeDraft, _ texts: MergeTexts) -> Receipt {
        let state = draft.state(change.uniqueID)
        var type = change.section.objectType
        switch state {
        case .deleted(let deleted)?: type = deleted.objectType
        case .entity(let entity)?: type = type ?? entity.objectType
        case nil: break
        }
        var receipt = Receipt(
            uniqueID: change.uniqueID, objectType: type?.name, pointer: change.pointer,
            status: problem == nil && rejected.isEmpty ? .unchanged : .rejected,
            fields: rejected.mapValues { Receipt.Field(.rejected, problem: $0) }, problem: problem)
        switch state {
        case .deleted?:
            receipt.status = max(receipt.status, .deleted)
            for (edit, _) in edits { receipt.fields[edit.attribute.description] = Receipt.Field(.deleted) }
        case .entity(let entity)?:
            for (edit, isKnown) in edits {
                let field = field(edit, in: entity, draft, texts)
                if let field { receipt.fields[edit.attribute.description] = field }
                receipt.status = max(receipt.status, field != nil ? .merged : isKnown ? .unchanged : .applied)
            }
        case nil: break
        }
        return receipt
    }

    /// The result for a field whose pushed value is not current; nil if the pushed value is current.
    private func field(
        _ edit: Edit, in entity: Entity, _ draft: ScopeDraft, _ texts: MergeTexts
    ) -> Receipt.Field? {
        guard let clock = edit.clock else {
            // If two creation dates were set, the earlier date is current. Other attributes without a clock need no check: an
            // edit that would change their value was already rejected.
            guard case .field(let field) = edit.attribute, field.rule == .earliest,
                entity.content[field] != edit.value
            else { return nil }
            return Receipt.Field(.superseded)
        }
        guard let current = entity.register(edit.attribute)?.clock, current != clock else { return nil }
        guard edit.attribute.isText else { return Receipt.Field(.superseded, clock: current) }
        let text = LostText(object: entity.uniqueID, attribute: edit.attribute, clock: clock)
        return texts.field(text, current: current, in: draft)
    }
}
