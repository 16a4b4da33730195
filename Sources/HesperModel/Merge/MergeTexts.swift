/// Decides which version of a text is current after a push. The decision depends on the versions from which the pushed text
/// descends (merge.md, Text). A text is the text of a note, or one of the texts of an app's own object.
struct MergeTexts {
    /// The texts that lost words, in the order in which they were merged.
    private(set) var lost: [LostText] = []
    /// The merges of large texts that must be prepared.
    private(set) var pendingMerges: [PreparedTexts.PendingMerge] = []
    /// The pushed texts that were not merged, for example because the text from which they descend is not known.
    private var unmerged: Set<LostText> = []
    /// The pushed texts from which other texts in the bag descend.
    private var history: Set<LostText> = []
    /// For each pushed text that lost words in its merge: these words, and the clock of the text that was current after the merge.
    private var superseded: [LostText: ([TextMerge.Superseded], by: Clock)] = [:]
    /// The total size of the texts that were merged without preparation, in bytes.
    private var mergedBytes = 0

    /// A text that is about to be added to the bag.
    struct Incoming {
        let attribute: Attribute
        let clock: Clock
        let text: String
        /// The texts from which this text descends, as stated by the client.
        var ancestry = TextAncestry()
        /// True if this text was sent only as the base of a pushed text.
        var isBase = false
        var replacesUnread = false

        /// Whether a device resends the text to a restored server. The device then states the text's own clock as its base.
        var isResent: Bool { ancestry.base == clock }
        /// The clocks of the texts that the push states as ancestors of this text, without this text's own clock.
        var named: [Clock] { ([ancestry.base].compactMap(\.self) + (ancestry.after ?? [])).filter { $0 != clock } }

        func id(in object: UniqueID) -> LostText { LostText(object: object, attribute: attribute, clock: clock) }
    }

    /// The relation of an incoming text to the current text.
    private enum Descent {
        /// A text in the bag descends from the incoming text.
        case history
        /// The incoming text descends from the current text.
        case current
        /// The incoming text and the current text both descend from this text.
        case base(String)
        case unknown
    }

    /// Adds a pushed text to an object, and determines which text is current. If that text does not have the greatest clock, it is
    /// added once more with a new clock of the server, so that the fold yields it.
    mutating func merge(
        _ text: Incoming, into entity: inout Entity, parcel: Int, in draft: inout ScopeDraft
    ) throws {
        try addBase(of: text, into: &entity, in: &draft)
        try add(text, into: &entity, parcel: parcel, in: &draft)
    }

    /// Adds the base of a text to the bag, if the push contains the base and the bag lacks it. The base is treated like a text that
    /// a device resends to a restored server.
    private mutating func addBase(
        of text: Incoming, into entity: inout Entity, in draft: inout ScopeDraft
    ) throws {
        let attribute = text.attribute
        guard let base = text.ancestry.base, let value = text.ancestry.baseValue, !text.isResent,
            base != entity.register(attribute)?.clock,
            draft.ahead(base, field: "textBase", pointer: "") == nil,
            draft.revoked(base, field: "textBase", pointer: "") == nil,
            try draft.find(attribute, base, of: entity.uniqueID) == nil
        else { return }
        let parcel = draft.add(Parcel(object: entity.uniqueID, objectType: entity.objectType, edits: []))
        let resent = Incoming(
            attribute: attribute, clock: base, text: value, ancestry: TextAncestry(base: base, after: []), isBase: true)
        try add(resent, into: &entity, parcel: parcel, in: &draft)
    }

    /// Adds one text to the object, and decides by its descent which text is current.
    private mutating func add(
        _ text: Incoming, into entity: inout Entity, parcel: Int, in draft: inout ScopeDraft
    ) throws {
        let (id, attribute) = (entity.uniqueID, text.attribute)
        let edit = Edit(attribute, .string(text.text), at: text.clock)
        let missing = try missingAncestors(of: text, entity, in: draft)
        guard let register = entity.register(attribute), case .string(let currentText) = register.value else {
            draft.append(edit, to: parcel, missing: missing)
            entity.fold(edit)
            return
        }
        let current = register.clock
        // These lookups come first, because adding the edit to its parcel changes their results.
        let descent = try descent(of: text, from: current, in: id, draft)
        let currentOrigin = try draft.origin(of: attribute, current, of: id)
        let currentID = LostText(object: id, attribute: attribute, clock: current)
        draft.append(edit, to: parcel, missing: missing)
        entity.fold(edit)

        let origin = max(currentOrigin, text.clock)
        switch descent {
        case .history:
            history.insert(text.id(in: id))
            if text.isBase, TextWords(of: text.text).hasWords(beyond: [TextWords(of: currentText)]) {
                lost.append(text.id(in: id))
            }
            setCurrent(
                attribute, currentText, origin: currentOrigin, after: max(current, text.clock), in: &entity, &draft)
        case .current:
            if text.replacesUnread, TextWords(of: currentText).hasMore(than: TextWords(of: text.text)) {
                lost.append(currentID)
            }
            setCurrent(attribute, text.text, origin: origin, after: current, in: &entity, &draft)
        case .unknown:
            leaveUnmerged(text, beside: currentID, currentText)
        case .base(let base):
            let currentIsOlder = (currentOrigin, current) < (text.clock, text.clock)
            let input = TextMerge.Input(
                base: base, older: currentIsOlder ? currentText : text.text,
                newer: currentIsOlder ? text.text : currentText)
            guard let outcome = outcome(of: input, for: text.id(in: id), draft.context.bounds) else { return }
            // The merged text of two long texts may exceed the maximum size. No device could push an edit of such a text, so the two
            // texts are then not merged.
            guard outcome.text.utf8.count <= Limits.textBytes else {
                leaveUnmerged(text, beside: currentID, currentText)
                return
            }
            if !outcome.superseded.isEmpty { lost.append(currentIsOlder ? currentID : text.id(in: id)) }
            setCurrent(
                attribute, outcome.text, origin: origin, after: max(current, text.clock), in: &entity, &draft)
            if !currentIsOlder, let clock = entity.register(attribute)?.clock {
                superseded[text.id(in: id)] = (outcome.superseded, clock)
            }
        }
    }

    /// The outcome of a merge, if the merge was prepared or the texts are small. Otherwise returns nil and adds the merge to
    /// ``pendingMerges``, so that it is prepared before the push is applied again.
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

    /// Makes `text` current. If the fold yields a different text, adds `text` to the object once more, with a new clock of the
    /// server.
    private func setCurrent(
        _ attribute: Attribute, _ text: String, origin: Clock, after clock: Clock, in entity: inout Entity,
        _ draft: inout ScopeDraft
    ) {
        guard case .string(let folded)? = entity.register(attribute)?.value, !folded.isIdentical(to: text) else {
            return
        }
        let clock = draft.tick(after: clock, entity.lastClock)
        let edit = Edit(attribute, .string(text), at: clock)
        draft.add(
            Parcel(
                object: entity.uniqueID, objectType: entity.objectType, edits: [edit], textOrigin: origin,
                isServerMade: true))
        entity.fold(edit)
    }

    /// Leaves two texts unmerged: the text with the greater clock becomes current, and the other remains in the history
    /// forever.
    private mutating func leaveUnmerged(
        _ text: Incoming, beside current: LostText, _ currentText: String
    ) {
        let pushed = text.id(in: current.object)
        unmerged.insert(pushed)
        guard !text.text.isIdentical(to: currentText) else { return }
        lost.append(current.clock < text.clock ? current : pushed)
        if text.clock < current.clock {
            let whole = TextMerge.Superseded(text: text.text, location: 0, length: currentText.utf16.count)
            superseded[pushed] = ([whole], current.clock)
        }
    }

    // MARK: Descent

    private func descent(
        of text: Incoming, from current: Clock, in id: UniqueID, _ draft: ScopeDraft
    ) throws -> Descent {
        let ancestry = text.ancestry
        if text.clock > current {
            // If the base is the current text, no text in the bag descends from the pushed text. A descendant of the pushed text
            // would be newer than the base, and the base would not be current.
            if ancestry.base == current, ancestry.after?.isEmpty != false { return .current }
            // If a client does not send `textAfter`, its text is treated as a descendant of the previous text of the same node.
            if ancestry.after == nil, current.node == text.clock.node { return .current }
        }
        let known = try draft.descents(of: text.attribute, of: id)
        if known.contains(where: { $0.clock != text.clock && $0.missingAncestors.contains(text.clock) }) {
            return .history
        }
        let base: Clock?
        if text.isResent {
            guard let restored = draft.context.restoredSequence else { return text.isBase ? .history : .unknown }
            // Texts that devices resend to a restored server are ordered by their clocks, and each is treated as a descendant of
            // the text before it. The first one descends from the text that was current when the server was restored.
            let resent = known.filter { $0.missingAncestors.contains($0.clock) && $0.sequence > restored }
            if resent.contains(where: { $0.clock > text.clock }) { return .history }
            base =
                try resent.map(\.clock).max()
                ?? (draft.wasKnown(id) ? draft.bag.current(text.attribute, of: id, at: restored) : nil)
        } else if let after = ancestry.after {
            base = try after.last { try draft.hasText(text.attribute, $0, of: id) } ?? ancestry.base
        } else {
            base = try baseByNode(of: text, in: id, draft)
        }
        guard let base else { return .unknown }
        if base == current { return .current }
        if let value = try draft.textValue(text.attribute, base, of: id) { return .base(value) }
        // The bag lacks the text of the base. Either thinning dropped the text, or the clock of the base was rejected. The push may
        // contain the text of the base.
        if base == ancestry.base, let value = ancestry.baseValue { return .base(value) }
        return .unknown
    }

    /// The base of a text from a client that does not send `textAfter`. There are two candidates: `textBase`, and the clock of the
    /// newest earlier text by the same node. The base is the greater of the two clocks.
    private func baseByNode(of text: Incoming, in id: UniqueID, _ draft: ScopeDraft) throws -> Clock? {
        let (node, bag) = (text.clock.node, draft.bag)
        var own = draft.wasKnown(id) ? try bag.newest(text.attribute, of: id, by: node, before: text.clock) : nil
        for parcel in draft.added(to: id) where parcel.text == text.attribute {
            guard let clock = parcel.textClock, clock.node == node, clock < text.clock else { continue }
            own = max(own ?? clock, clock)
        }
        guard let base = text.ancestry.base, try own == nil || draft.hasText(text.attribute, base, of: id) else {
            return own
        }
        return max(base, own ?? base)
    }

    /// The clocks that the push states as ancestors of a text and that the bag lacks. If a device resends the text to a restored
    /// server, the text's own clock is added.
    private func missingAncestors(of text: Incoming, _ entity: Entity, in draft: ScopeDraft) throws -> [Clock] {
        let current = entity.register(text.attribute)?.clock
        var missing = try text.named.filter {
            try $0 != current && !draft.hasText(text.attribute, $0, of: entity.uniqueID)
        }
        if text.isResent { missing.append(text.clock) }
        return missing
    }

    // MARK: Receipts

    /// The result that the receipt contains for a pushed text that is not current.
    func field(_ text: LostText, current: Clock, in draft: ScopeDraft) -> Receipt.Field {
        let isMerged =
            current.node == draft.context.server && !unmerged.contains(text) && !history.contains(text)
        var field = Receipt.Field(isMerged ? .merged : .superseded, clock: current)
        // The locations of the superseded words refer to the text that was current after the pushed text was merged. If another
        // text of the same push has replaced it, the locations are no longer valid, and the words are omitted.
        if let (words, result) = superseded[text], result == current { field.superseded = words }
        return field
    }
}

/// Functions that look up the versions of a text.
extension ScopeDraft {
    /// The versions of a text that have missing ancestors (``Parcel/missingAncestors``), in the bag and in this push.
    fileprivate func descents(of attribute: Attribute, of id: UniqueID) throws -> [TextDescent] {
        let known = wasKnown(id) ? try bag.descents(of: attribute, of: id) : []
        return known
            + added(to: id).compactMap { parcel in
                guard parcel.text == attribute, let clock = parcel.textClock, !parcel.missingAncestors.isEmpty else {
                    return nil
                }
                return TextDescent(clock: clock, missingAncestors: parcel.missingAncestors, sequence: .max)
            }
    }

    /// Whether the object has a version of the text with this clock. If words of a deleted object were rescued into the object, the
    /// versions of the deleted object count too.
    fileprivate func hasText(_ attribute: Attribute, _ clock: Clock, of id: UniqueID) throws -> Bool {
        if try find(attribute, clock, of: id) != nil { return true }
        return try rescued(attribute, clock, into: id) != nil
    }

    fileprivate func textValue(_ attribute: Attribute, _ clock: Clock, of id: UniqueID) throws -> String? {
        let edit = try find(attribute, clock, of: id)?.edit ?? rescued(attribute, clock, into: id)
        if case .string(let text)? = edit?.value { return text }
        return nil
    }

    /// Finds a version, by its clock, in the deleted object whose words were rescued into this object. A device that edited the
    /// deleted object pushes its texts to this object. The base of such a text is a version of the deleted object.
    private func rescued(_ attribute: Attribute, _ clock: Clock, into id: UniqueID) throws -> Edit? {
        guard wasKnown(id) else { return nil }
        for parcel in try bag.parcels(rescuedInto: id, holding: clock) {
            if let edit = parcel.edits.first(where: { $0.attribute == attribute && $0.clock == clock }) { return edit }
        }
        return nil
    }

    /// The clock by which texts are ordered for a merge. For a text that a device made, this is the text's own clock. For a
    /// text that the server made, this is its ``Parcel/textOrigin``.
    fileprivate func origin(of attribute: Attribute, _ clock: Clock, of id: UniqueID) throws -> Clock {
        // Only texts that the server made have an origin other than their own clock.
        guard clock.node == context.server else { return clock }
        return try find(attribute, clock, of: id)?.parcel.textOrigin ?? clock
    }
}

extension Change {
    /// The text that an edit sets, with its ancestors as stated in the push.
    func text(_ edit: Edit, at clock: Clock) -> MergeTexts.Incoming {
        var text = ""
        if case .string(let value)? = edit.value { text = value }
        return MergeTexts.Incoming(
            attribute: edit.attribute, clock: clock, text: text, ancestry: ancestries[edit.attribute] ?? TextAncestry(),
            replacesUnread: replacesUnread)
    }
}
