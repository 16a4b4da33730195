/// Which text of a note stands after a push: decided by what the pushed text descends from (merge.md, Text).
struct MergeTexts {
    /// Texts that lost words, in the order in which they did.
    private(set) var lost: [LostText] = []
    /// Merges of large texts that are to be prepared.
    private(set) var pendingMerges: [PreparedTexts.PendingMerge] = []
    /// Texts of the push whose base is not known: no merge has taken them in.
    private var unmerged: Set<Clock> = []
    /// Texts of the push that others in the bag descend from.
    private var history: Set<Clock> = []
    /// Words of the push's texts that are not in what stands instead, whose clock is the second.
    private var superseded: [Clock: ([TextMerge.Superseded], by: Clock)] = [:]
    /// Bytes of texts that were merged without preparation.
    private var mergedBytes = 0

    /// A text on its way into the bag.
    struct Incoming {
        let clock: Clock
        let text: String
        /// What it says it descends from: ``Change/textBase``, ``Change/textBaseValue`` and ``Change/textAfter``.
        var base: Clock?
        var baseValue: String?
        var after: [Clock]?
        /// Whether it is a base that another text brought along.
        var isBase = false
        var replacesUnread = false

        /// A device gives it back to a restored server.
        var isGivenBack: Bool { base == clock }
        /// The clocks that it names, but its own.
        var named: [Clock] { ([base].compactMap(\.self) + (after ?? [])).filter { $0 != clock } }
    }

    /// What a text is to the one that stands.
    private enum Descent {
        /// A text in the bag descends from it.
        case history
        /// It descends from what stands.
        case standing
        /// Both descend from this text.
        case base(String)
        case unknown
    }

    /// Folds a pushed text into a note, and adds the text of the server's own that is due.
    mutating func merge(
        _ text: Incoming, into entity: inout Entity, parcel: Int, in draft: inout ScopeDraft
    ) throws {
        try takeBase(of: text, into: &entity, in: &draft)
        try take(text, into: &entity, parcel: parcel, in: &draft)
    }

    /// Takes in the text that another descends from, as a text given back, if the bag lacks it.
    private mutating func takeBase(
        of text: Incoming, into entity: inout Entity, in draft: inout ScopeDraft
    ) throws {
        guard let base = text.base, let value = text.baseValue, !text.isGivenBack,
            base != entity.register(.text)?.clock,
            draft.ahead(base, field: "textBase", pointer: "") == nil,
            draft.revoked(base, field: "textBase", pointer: "") == nil,
            try draft.find(.text, base, of: entity.uniqueID) == nil
        else { return }
        let parcel = draft.add(Parcel(object: entity.uniqueID, objectType: .note, edits: []))
        let given = Incoming(clock: base, text: value, base: base, after: [], isBase: true)
        try take(given, into: &entity, parcel: parcel, in: &draft)
    }

    /// Takes one text in, by what it descends from.
    private mutating func take(
        _ text: Incoming, into entity: inout Entity, parcel: Int, in draft: inout ScopeDraft
    ) throws {
        let edit = Edit(.text, .string(text.text), at: text.clock)
        let missing = try missingAncestors(of: text, entity, in: draft)
        guard let register = entity.register(.text), case .string(let current) = register.value else {
            draft.append(edit, to: parcel, missing: missing)
            entity.fold(edit)
            return
        }
        let standing = register.clock
        // What is known is looked up before the edit goes into its parcel, which would change it.
        let descent = try descent(of: text, from: standing, in: entity.uniqueID, draft)
        let standingOrigin = try draft.origin(of: standing, of: entity.uniqueID)
        draft.append(edit, to: parcel, missing: missing)
        entity.fold(edit)

        let origin = max(standingOrigin, text.clock)
        switch descent {
        case .history:
            history.insert(text.clock)
            if text.isBase, TextWords(of: text.text).hasWords(beyond: [TextWords(of: current)]) {
                lose(text.clock, of: entity.uniqueID)
            }
            stand(current, origin: standingOrigin, after: max(standing, text.clock), in: &entity, &draft)
        case .standing:
            if text.replacesUnread, TextWords(of: current).hasMore(than: TextWords(of: text.text)) {
                lose(standing, of: entity.uniqueID)
            }
            stand(text.text, origin: origin, after: standing, in: &entity, &draft)
        case .unknown:
            leaveUnmerged(text, beside: standing, current, in: entity)
        case .base(let base):
            let standsFirst = (standingOrigin, standing) < (text.clock, text.clock)
            let input = TextMerge.Input(
                base: base, older: standsFirst ? current : text.text, newer: standsFirst ? text.text : current)
            let object = LostText(object: entity.uniqueID, clock: text.clock)
            guard let outcome = outcome(of: input, for: object, draft.context.bounds) else { return }
            // Two texts of the greatest size may come to one that no device could push again.
            guard outcome.text.utf8.count <= Limits.textBytes else {
                leaveUnmerged(text, beside: standing, current, in: entity)
                return
            }
            if !outcome.superseded.isEmpty { lose(standsFirst ? standing : text.clock, of: entity.uniqueID) }
            stand(outcome.text, origin: origin, after: max(standing, text.clock), in: &entity, &draft)
            if !standsFirst, let clock = entity.register(.text)?.clock {
                superseded[text.clock] = (outcome.superseded, clock)
            }
        }
    }

    /// Merges texts, if they were prepared or are small enough; else the push is applied again, with this merge prepared.
    private mutating func outcome(
        of input: TextMerge.Input, for text: LostText, _ bounds: Merge.Bounds
    ) -> TextMerge.Outcome? {
        guard let prepared = bounds.texts else { return input.outcome }
        let need = PreparedTexts.PendingMerge(text: text, input: input)
        if let outcome = prepared.outcome(of: need) { return outcome }
        mergedBytes += input.byteCount
        if mergedBytes <= bounds.textBytes { return input.outcome }
        pendingMerges.append(need)
        return nil
    }

    /// Lets a text stand: if the fold gives another, the server adds it under a clock of its own.
    private func stand(
        _ text: String, origin: Clock, after clock: Clock, in entity: inout Entity, _ draft: inout ScopeDraft
    ) {
        guard case .string(let folded)? = entity.register(.text)?.value, !folded.isIdentical(to: text) else { return }
        let clock = draft.tick(after: clock, entity.lastClock)
        let edit = Edit(.text, .string(text), at: clock)
        draft.add(
            Parcel(object: entity.uniqueID, objectType: .note, edits: [edit], textOrigin: origin, isServerMade: true))
        entity.fold(edit)
    }

    /// Lets the greater clock stand; the other text is in the history alone, for ever.
    private mutating func leaveUnmerged(
        _ text: Incoming, beside standing: Clock, _ current: String, in entity: Entity
    ) {
        unmerged.insert(text.clock)
        guard !text.text.isIdentical(to: current) else { return }
        lose(min(standing, text.clock), of: entity.uniqueID)
        if text.clock < standing {
            let whole = TextMerge.Superseded(text: text.text, location: 0, length: current.utf16.count)
            superseded[text.clock] = ([whole], standing)
        }
    }

    private mutating func lose(_ clock: Clock, of id: UniqueID) {
        lost.append(LostText(object: id, clock: clock))
    }

    // MARK: Descent

    private func descent(
        of text: Incoming, from standing: Clock, in id: UniqueID, _ draft: ScopeDraft
    ) throws -> Descent {
        if text.clock > standing {
            // A text that names this one stands above what this one started from: then that does not stand any more.
            if text.base == standing, text.after?.isEmpty != false { return .standing }
            // What a client that names no other texts writes descends from what it wrote before.
            if text.after == nil, standing.node == text.clock.node { return .standing }
        }
        let known = try draft.textDescents(of: id)
        if known.contains(where: { $0.clock != text.clock && $0.missingAncestors.contains(text.clock) }) {
            return .history
        }
        let base: Clock?
        if text.isGivenBack {
            guard let restored = draft.context.restoredSequence else { return text.isBase ? .history : .unknown }
            // Restored texts are a chain, in the order of their clocks, from what stood when the server was restored.
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
        if base == standing { return .standing }
        if let value = try draft.knownText(base, of: id) { return .base(value) }
        // Its value was thinned away, or it may not be taken; the device may have brought it along.
        if base == text.base, let value = text.baseValue { return .base(value) }
        return .unknown
    }

    /// What the text of a client descends from that does not name its unanswered texts: the greater of `textBase` and the
    /// newest text in the bag by the same node that is older than it.
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

    /// The clocks that a text names and the bag lacks, and its own if it is given back.
    private func missingAncestors(of text: Incoming, _ entity: Entity, in draft: ScopeDraft) throws -> [Clock] {
        let standing = entity.register(.text)?.clock
        var missing = try text.named.filter { try $0 != standing && !draft.hasText($0, of: entity.uniqueID) }
        if text.isGivenBack { missing.append(text.clock) }
        return missing
    }

    // MARK: Receipts

    /// What became of a pushed text that does not stand.
    func field(_ clock: Clock, standing: Clock, in draft: ScopeDraft) -> Receipt.Field {
        let isMerged =
            standing.node == draft.context.server && !unmerged.contains(clock) && !history.contains(clock)
        var field = Receipt.Field(isMerged ? .merged : .superseded, clock: standing)
        // The places are those in the text that stood right after it: another of the same push may have taken its place.
        if let (words, stood) = superseded[clock], stood == standing { field.superseded = words }
        return field
    }
}

/// What a scope knows of the texts of a note.
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

    /// Whether it has the text with this clock, or had it where it was rescued from.
    fileprivate func hasText(_ clock: Clock, of id: UniqueID) throws -> Bool {
        if try find(.text, clock, of: id) != nil { return true }
        return try rescued(clock, into: id) != nil
    }

    fileprivate func knownText(_ clock: Clock, of id: UniqueID) throws -> String? {
        let edit = try find(.text, clock, of: id)?.edit ?? rescued(clock, into: id)
        if case .string(let text)? = edit?.value { return text }
        return nil
    }

    /// A text of the deleted note whose words are in this one: devices move what they wrote there to here, with the descent that it
    /// had there.
    private func rescued(_ clock: Clock, into id: UniqueID) throws -> Edit? {
        guard wasKnown(id) else { return nil }
        for parcel in try bag.parcels(rescuedInto: id, holding: clock) {
            if let edit = parcel.edits.first(where: { $0.attribute == .text && $0.clock == clock }) { return edit }
        }
        return nil
    }

    /// The clock that a text counts as when two are put in order: of a text that the server made, the greatest device
    /// clock among what it was merged from.
    fileprivate func origin(of clock: Clock, of id: UniqueID) throws -> Clock {
        // A text that was rescued kept its clock, and its origin, in another note.
        guard clock.node == context.server else { return clock }
        return try find(.text, clock, of: id)?.parcel.textOrigin ?? clock
    }
}

extension Change {
    /// One of its edits, with what it says of the descent of its text.
    func text(_ edit: Edit, at clock: Clock) -> MergeTexts.Incoming {
        var text = ""
        if case .string(let value)? = edit.value { text = value }
        return MergeTexts.Incoming(
            clock: clock, text: text, base: textBase, baseValue: textBaseValue, after: textAfter,
            replacesUnread: replacesUnread)
    }
}
