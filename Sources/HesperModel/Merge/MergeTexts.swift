/// Decides which text of a note is current after a push, from what the pushed text descends from (merge.md, Text).
struct MergeTexts {
    /// Texts that lost words, in the order in which they were merged.
    private(set) var lost: [LostText] = []
    /// Merges of large texts that must be prepared.
    private(set) var pendingMerges: [PreparedTexts.PendingMerge] = []
    /// Pushed texts whose base is not known. They were not merged.
    private var unmerged: Set<Clock> = []
    /// Pushed texts from which other texts in the bag descend.
    private var history: Set<Clock> = []
    /// By the clock of a pushed text: the words of it that the current text lacks, and the clock of that text.
    private var superseded: [Clock: ([TextMerge.Superseded], by: Clock)] = [:]
    /// The size of the texts that were merged without preparation, in bytes.
    private var mergedBytes = 0

    /// A text that is about to be added to the bag.
    struct Incoming {
        let clock: Clock
        let text: String
        /// The descent as pushed: ``Change/textBase``, ``Change/textBaseValue`` and ``Change/textAfter``.
        var base: Clock?
        var baseValue: String?
        var after: [Clock]?
        /// Whether it is the base that was sent along with another text.
        var isBase = false
        var replacesUnread = false

        /// Whether a device gives the text back to a restored server.
        var isGivenBack: Bool { base == clock }
        /// The clocks that it names, except its own.
        var named: [Clock] { ([base].compactMap(\.self) + (after ?? [])).filter { $0 != clock } }
    }

    /// How an incoming text relates to the current one.
    private enum Descent {
        /// A text in the bag descends from it.
        case history
        /// It descends from the current text.
        case current
        /// Both descend from this text.
        case base(String)
        case unknown
    }

    /// Adds a pushed text to a note. If neither text of the note is the right one to be current, also adds a text of the server.
    mutating func merge(
        _ text: Incoming, into entity: inout Entity, parcel: Int, in draft: inout ScopeDraft
    ) throws {
        try addBase(of: text, into: &entity, in: &draft)
        try add(text, into: &entity, parcel: parcel, in: &draft)
    }

    /// Adds the base that was sent along with a text, as a text that is given back, if the bag lacks it.
    private mutating func addBase(
        of text: Incoming, into entity: inout Entity, in draft: inout ScopeDraft
    ) throws {
        guard let base = text.base, let value = text.baseValue, !text.isGivenBack,
            base != entity.register(.text)?.clock,
            draft.ahead(base, field: "textBase", pointer: "") == nil,
            draft.revoked(base, field: "textBase", pointer: "") == nil,
            try draft.find(.text, base, of: entity.uniqueID) == nil
        else { return }
        let parcel = draft.add(Parcel(object: entity.uniqueID, objectType: .note, edits: []))
        let givenBack = Incoming(clock: base, text: value, base: base, after: [], isBase: true)
        try add(givenBack, into: &entity, parcel: parcel, in: &draft)
    }

    /// Adds one text according to its descent.
    private mutating func add(
        _ text: Incoming, into entity: inout Entity, parcel: Int, in draft: inout ScopeDraft
    ) throws {
        let edit = Edit(.text, .string(text.text), at: text.clock)
        let missing = try missingAncestors(of: text, entity, in: draft)
        guard let register = entity.register(.text), case .string(let currentText) = register.value else {
            draft.append(edit, to: parcel, missing: missing)
            entity.fold(edit)
            return
        }
        let current = register.clock
        // Adding the edit to its parcel changes the result of these lookups.
        let descent = try descent(of: text, from: current, in: entity.uniqueID, draft)
        let currentOrigin = try draft.origin(of: current, of: entity.uniqueID)
        draft.append(edit, to: parcel, missing: missing)
        entity.fold(edit)

        let origin = max(currentOrigin, text.clock)
        switch descent {
        case .history:
            history.insert(text.clock)
            if text.isBase, TextWords(of: text.text).hasWords(beyond: [TextWords(of: currentText)]) {
                recordLoss(text.clock, of: entity.uniqueID)
            }
            setCurrent(currentText, origin: currentOrigin, after: max(current, text.clock), in: &entity, &draft)
        case .current:
            if text.replacesUnread, TextWords(of: currentText).hasMore(than: TextWords(of: text.text)) {
                recordLoss(current, of: entity.uniqueID)
            }
            setCurrent(text.text, origin: origin, after: current, in: &entity, &draft)
        case .unknown:
            leaveUnmerged(text, beside: current, currentText, in: entity)
        case .base(let base):
            let currentIsOlder = (currentOrigin, current) < (text.clock, text.clock)
            let input = TextMerge.Input(
                base: base, older: currentIsOlder ? currentText : text.text,
                newer: currentIsOlder ? text.text : currentText)
            let object = LostText(object: entity.uniqueID, clock: text.clock)
            guard let outcome = outcome(of: input, for: object, draft.context.bounds) else { return }
            // Two texts of the maximum size may merge into one that exceeds it. No device could push that text again.
            guard outcome.text.utf8.count <= Limits.textBytes else {
                leaveUnmerged(text, beside: current, currentText, in: entity)
                return
            }
            if !outcome.superseded.isEmpty { recordLoss(currentIsOlder ? current : text.clock, of: entity.uniqueID) }
            setCurrent(outcome.text, origin: origin, after: max(current, text.clock), in: &entity, &draft)
            if !currentIsOlder, let clock = entity.register(.text)?.clock {
                superseded[text.clock] = (outcome.superseded, clock)
            }
        }
    }

    /// Merges texts if the merge was prepared or the texts are small. Otherwise records the merge, so that the push is applied
    /// again with that merge prepared.
    private mutating func outcome(
        of input: TextMerge.Input, for text: LostText, _ bounds: Merge.Bounds
    ) -> TextMerge.Outcome? {
        guard let prepared = bounds.texts else { return input.outcome }
        let merge = PreparedTexts.PendingMerge(text: text, input: input)
        if let outcome = prepared.outcome(of: merge) { return outcome }
        mergedBytes += input.byteCount
        if mergedBytes <= bounds.textBytes { return input.outcome }
        pendingMerges.append(merge)
        return nil
    }

    /// Makes a text current. If the fold yields another text, the server adds this one with a clock of its own.
    private func setCurrent(
        _ text: String, origin: Clock, after clock: Clock, in entity: inout Entity, _ draft: inout ScopeDraft
    ) {
        guard case .string(let folded)? = entity.register(.text)?.value, !folded.isIdentical(to: text) else { return }
        let clock = draft.tick(after: clock, entity.lastClock)
        let edit = Edit(.text, .string(text), at: clock)
        draft.add(
            Parcel(object: entity.uniqueID, objectType: .note, edits: [edit], textOrigin: origin, isServerMade: true))
        entity.fold(edit)
    }

    /// Lets the text with the greater clock be current. The other remains in the history without a time limit.
    private mutating func leaveUnmerged(
        _ text: Incoming, beside current: Clock, _ currentText: String, in entity: Entity
    ) {
        unmerged.insert(text.clock)
        guard !text.text.isIdentical(to: currentText) else { return }
        recordLoss(min(current, text.clock), of: entity.uniqueID)
        if text.clock < current {
            let whole = TextMerge.Superseded(text: text.text, location: 0, length: currentText.utf16.count)
            superseded[text.clock] = ([whole], current)
        }
    }

    private mutating func recordLoss(_ clock: Clock, of id: UniqueID) {
        lost.append(LostText(object: id, clock: clock))
    }

    // MARK: Descent

    private func descent(
        of text: Incoming, from current: Clock, in id: UniqueID, _ draft: ScopeDraft
    ) throws -> Descent {
        if text.clock > current {
            // If a text in the bag named this one, that text would be newer than the base, and the base would not be current.
            if text.base == current, text.after?.isEmpty != false { return .current }
            // Clients without `textAfter`: a text descends from the previous text of the same node.
            if text.after == nil, current.node == text.clock.node { return .current }
        }
        let known = try draft.textDescents(of: id)
        if known.contains(where: { $0.clock != text.clock && $0.missingAncestors.contains(text.clock) }) {
            return .history
        }
        let base: Clock?
        if text.isGivenBack {
            guard let restored = draft.context.restoredSequence else { return text.isBase ? .history : .unknown }
            // Restored texts form a chain in the order of their clocks. It starts at the text that was current when the server
            // was restored.
            let givenBack = known.filter { $0.missingAncestors.contains($0.clock) && $0.sequence > restored }
            if givenBack.contains(where: { $0.clock > text.clock }) { return .history }
            base =
                try givenBack.map(\.clock).max()
                ?? (draft.wasKnown(id) ? draft.bag.currentText(of: id, at: restored) : nil)
        } else if let after = text.after {
            base = try after.last { try draft.hasText($0, of: id) } ?? text.base
        } else {
            base = try baseByNode(of: text, in: id, draft)
        }
        guard let base else { return .unknown }
        if base == current { return .current }
        if let value = try draft.textValue(base, of: id) { return .base(value) }
        // The base was thinned away, or its clock was rejected. The push may include its value.
        if base == text.base, let value = text.baseValue { return .base(value) }
        return .unknown
    }

    /// The base of a text from a client that does not send `textAfter`: the greater of `textBase` and the newest text in the bag
    /// by the same node that is older than the text.
    private func baseByNode(of text: Incoming, in id: UniqueID, _ draft: ScopeDraft) throws -> Clock? {
        let (node, bag) = (text.clock.node, draft.bag)
        var own = draft.wasKnown(id) ? try bag.newestText(of: id, by: node, before: text.clock) : nil
        for parcel in draft.added(to: id) {
            guard let clock = parcel.textClock, clock.node == node, clock < text.clock else { continue }
            own = max(own ?? clock, clock)
        }
        guard let base = text.base, try own == nil || draft.hasText(base, of: id) else { return own }
        return max(base, own ?? base)
    }

    /// The clocks that a text names and the bag lacks, and its own clock if the text is given back.
    private func missingAncestors(of text: Incoming, _ entity: Entity, in draft: ScopeDraft) throws -> [Clock] {
        let current = entity.register(.text)?.clock
        var missing = try text.named.filter { try $0 != current && !draft.hasText($0, of: entity.uniqueID) }
        if text.isGivenBack { missing.append(text.clock) }
        return missing
    }

    // MARK: Receipts

    /// The receipt of a pushed text that is not current.
    func field(_ clock: Clock, current: Clock, in draft: ScopeDraft) -> Receipt.Field {
        let isMerged =
            current.node == draft.context.server && !unmerged.contains(clock) && !history.contains(clock)
        var field = Receipt.Field(isMerged ? .merged : .superseded, clock: current)
        // The locations refer to the text that resulted from this merge. Another text of the same push may have replaced it.
        if let (words, result) = superseded[clock], result == current { field.superseded = words }
        return field
    }
}

/// Lookups of a note's texts.
extension ScopeDraft {
    /// The texts, in the bag or in this push, that name clocks which the bag lacked.
    fileprivate func textDescents(of id: UniqueID) throws -> [TextDescent] {
        let known = wasKnown(id) ? try bag.textDescents(of: id) : []
        return known
            + added(to: id).compactMap { parcel in
                guard let clock = parcel.textClock, !parcel.missingAncestors.isEmpty else { return nil }
                return TextDescent(clock: clock, missingAncestors: parcel.missingAncestors, sequence: .max)
            }
    }

    /// Whether the note, or the note it was rescued from, has the text with this clock.
    fileprivate func hasText(_ clock: Clock, of id: UniqueID) throws -> Bool {
        if try find(.text, clock, of: id) != nil { return true }
        return try rescued(clock, into: id) != nil
    }

    fileprivate func textValue(_ clock: Clock, of id: UniqueID) throws -> String? {
        let edit = try find(.text, clock, of: id)?.edit ?? rescued(clock, into: id)
        if case .string(let text)? = edit?.value { return text }
        return nil
    }

    /// A text of the deleted note that this note was rescued from. Devices push texts they wrote for the deleted note to this
    /// note, with the descent that they had there.
    private func rescued(_ clock: Clock, into id: UniqueID) throws -> Edit? {
        guard wasKnown(id) else { return nil }
        for parcel in try bag.parcels(rescuedInto: id, holding: clock) {
            if let edit = parcel.edits.first(where: { $0.attribute == .text && $0.clock == clock }) { return edit }
        }
        return nil
    }

    /// The origin of a text, by which texts are ordered. For a text that the server made, the greatest origin of the texts that
    /// it was made from.
    fileprivate func origin(of clock: Clock, of id: UniqueID) throws -> Clock {
        // A rescued text keeps its clock; its origin is in the other note.
        guard clock.node == context.server else { return clock }
        return try find(.text, clock, of: id)?.parcel.textOrigin ?? clock
    }
}

extension Change {
    /// The text of one of its edits, with the descent that the push states.
    func text(_ edit: Edit, at clock: Clock) -> MergeTexts.Incoming {
        var text = ""
        if case .string(let value)? = edit.value { text = value }
        return MergeTexts.Incoming(
            clock: clock, text: text, base: textBase, baseValue: textBaseValue, after: textAfter,
            replacesUnread: replacesUnread)
    }
}
