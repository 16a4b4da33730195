/// What a push came to, told from its final state.
extension Merge {
    func outcome(of push: Push) -> MergeOutcome {
        var outcome = MergeOutcome()
        outcome.parcels = parcels.filter { !$0.edits.isEmpty }
        outcome.lostTexts = lostTexts
        for id in touched {
            guard let after = states[id] else { continue }
            let isSame =
                switch (before[id], after) {
                case (.entity(let before, _)?, .entity(let after)): before == after
                case (.deleted(let before, _)?, .deleted(let after)): before == after
                default: false
                }
            // Of an object that was new, everything may have been refused.
            if case .entity(let entity) = after, before[id] == nil, entity == entity.section.empty(id) { continue }
            if !isSame { outcome.changes.append(StateChange(uniqueID: id, before: before[id], after: after)) }
        }
        for parcel in outcome.parcels {
            for case let clock? in parcel.edits.map(\.clock) {
                outcome.greatestClock = max(outcome.greatestClock ?? clock, clock)
                // A device may give back what a restored server ticked: it must not be ticked again.
                if clock.node == context.server { outcome.serverClock = max(outcome.serverClock ?? clock, clock) }
            }
        }
        outcome.receipts = push.elements.enumerated().map { index, element in
            let notes = notes[index] ?? ElementNotes()
            switch element {
            case .refused(let receipt): return receipt
            case .deletion(let deletion): return receipt(deletion, notes)
            case .change(let change): return receipt(change, notes)
            }
        }
        return outcome
    }

    private func receipt(_ deletion: Deletion, _ notes: ElementNotes) -> Receipt {
        var receipt = Receipt(
            uniqueID: deletion.uniqueID, objectType: deletion.objectType.name, pointer: deletion.pointer,
            status: notes.problem == nil ? notes.deletion ?? .unchanged : .rejected, problem: notes.problem)
        if let rescue = notes.rescue {
            receipt.status = .rescued
            receipt.rescuedInto = rescue
        }
        return receipt
    }

    private func receipt(_ change: Change, _ notes: ElementNotes) -> Receipt {
        var receipt = Receipt(
            uniqueID: change.uniqueID, objectType: change.section.objectType?.name, pointer: change.pointer,
            status: .unchanged, problem: notes.problem)
        if notes.problem != nil { receipt.status = .rejected }
        for (field, problem) in notes.refused {
            receipt.status = .rejected
            receipt.fields[field] = Receipt.Field(.rejected, problem: problem)
        }
        switch state(change.uniqueID) {
        case .deleted(let deleted)?:
            receipt = Receipt(
                uniqueID: change.uniqueID, objectType: deleted.objectType.name, pointer: change.pointer,
                status: max(receipt.status, .deleted), fields: receipt.fields, problem: notes.problem)
            for (edit, _) in notes.edits { receipt.fields[edit.attribute.description] = Receipt.Field(.deleted) }
        case .entity(let entity)?:
            if receipt.objectType == nil {
                receipt = Receipt(
                    uniqueID: change.uniqueID, objectType: entity.objectType?.name, pointer: change.pointer,
                    status: receipt.status, fields: receipt.fields, problem: notes.problem)
            }
            for (edit, isKnown) in notes.edits {
                let field = field(edit, in: entity)
                if let field { receipt.fields[edit.attribute.description] = field }
                receipt.status = max(receipt.status, field != nil ? .merged : isKnown ? .unchanged : .applied)
            }
        case nil: break
        }
        return receipt
    }

    /// What became of a field that does not simply stand.
    private func field(_ edit: Edit, in entity: Entity) -> Receipt.Field? {
        guard let clock = edit.clock else {
            // Of two creation dates the earlier stands; whatever else is set once was refused if it differed.
            guard case .field(let field) = edit.attribute, field.rule == .earliest,
                entity.content[field] != edit.value
            else { return nil }
            return Receipt.Field(.superseded)
        }
        guard let standing = entity.register(edit.attribute), standing.clock != clock else { return nil }
        let isMerged =
            edit.attribute == .text && standing.clock.node == context.server && !unmerged.contains(clock)
            && !history.contains(clock)
        var field = Receipt.Field(isMerged ? .merged : .superseded, clock: standing.clock)
        // The places are those in the text that stood right after it: another of the same push may have taken its place.
        if edit.attribute == .text, let (words, stood) = superseded[clock], stood == standing.clock {
            field.superseded = words
        }
        return field
    }
}
