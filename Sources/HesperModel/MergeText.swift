/// Texts that were changed on two devices at once (merge.md, Text).
extension Merge {
    /// Folds a pushed text into a note, and adds the three-way merge where one is due.
    mutating func mergeText(
        _ edit: Edit, _ clock: Clock, _ change: Change, into entity: inout Entity, parcel: Int
    ) throws {
        let id = change.uniqueID
        try addBaseValue(change, before: clock, into: &entity)
        guard case .string(let incoming)? = edit.value, let standing = entity.register(.text),
            case .string(let current) = standing.value
        else {
            parcels[parcel].edits.append(edit)
            entity.fold(edit)
            return
        }
        let base = try base(of: change, clock, standing: standing)
        // Origins are looked up before the edit goes into its parcel, which would change what is there.
        let incomingOrigin = clock
        let standingOrigin = try origin(of: standing.clock, of: id)
        parcels[parcel].edits.append(edit)
        entity.fold(edit)

        switch base {
        case .none: leaveUnmerged(clock, incoming, beside: standing.clock, current, of: id)
        case .standing:
            // What was written last stands, even if the clock it was written by is behind.
            guard clock < standing.clock, !incoming.isIdentical(to: current) else { return }
            addText(incoming, origin: max(standingOrigin, incomingOrigin), after: standing.clock, to: &entity)
        case .text(let base):
            let standsFirst = (standingOrigin, standing.clock) < (incomingOrigin, clock)
            let outcome = TextMerge.outcome(
                base: base, older: standsFirst ? current : incoming, newer: standsFirst ? incoming : current)
            let merged = outcome.text
            // Two texts of the greatest size may come to one that no device could push again: then the greater clock stands.
            guard merged.utf8.count <= Limits.textBytes else {
                leaveUnmerged(clock, incoming, beside: standing.clock, current, of: id)
                return
            }
            if outcome.olderLostWords {
                lostTexts.append(LostText(object: id, clock: standsFirst ? standing.clock : clock))
            }
            guard case .string(let folded)? = entity.register(.text)?.value, !folded.isIdentical(to: merged)
            else { return }
            addText(
                merged, origin: max(standingOrigin, incomingOrigin), after: max(standing.clock, clock), to: &entity)
        }
    }

    /// Lets the greater clock stand; the other text is in the history alone.
    private mutating func leaveUnmerged(
        _ clock: Clock, _ incoming: String, beside standing: Clock, _ current: String, of id: UniqueID
    ) {
        unmergedTexts.insert(clock)
        guard !incoming.isIdentical(to: current) else { return }
        lostTexts.append(LostText(object: id, clock: min(standing, clock)))
    }

    private enum Base {
        case none
        case standing
        case text(String)
    }

    /// What a text descends from: the greater of `textBase` and the newest text in the bag by the same node that is
    /// older than it. What a device writes always descends from what it wrote before, even when the answer was lost.
    private func base(of change: Change, _ clock: Clock, standing: Register<Value>) throws -> Base {
        let id = change.uniqueID
        if change.textBase == standing.clock { return .standing }
        if standing.clock.node == clock.node, standing.clock < clock { return .standing }
        let known = try change.textBase.flatMap { try find(.text, $0, of: id)?.edit }
        var own = before[id] == nil ? nil : try bag.newestText(of: id, by: clock.node, before: clock)
        for parcel in added(to: id) {
            guard let text = parcel.textClock, text.node == clock.node, text < clock else { continue }
            own = max(own ?? text, text)
        }
        guard let base = [known?.clock, own].compactMap(\.self).max() else { return .none }
        if base == standing.clock { return .standing }
        if case .string(let text)? = try find(.text, base, of: id)?.edit.value { return .text(text) }
        // Its value was thinned away; the device may have brought it along.
        if base == change.textBase, let text = change.textBaseValue { return .text(text) }
        return .none
    }

    /// Gives the bag the text that a device started from, if it lacks it.
    private mutating func addBaseValue(
        _ change: Change, before clock: Clock, into entity: inout Entity
    ) throws {
        guard let base = change.textBase, let text = change.textBaseValue, base != clock,
            base != entity.register(.text)?.clock,
            ahead(base, field: "textBase", pointer: change.pointer) == nil,
            revoked(base, field: "textBase", pointer: change.pointer) == nil,
            try find(.text, base, of: change.uniqueID) == nil
        else { return }
        let edit = Edit(.text, .string(text), at: base)
        add(Parcel(object: change.uniqueID, objectType: .note, edits: [edit]))
        entity.fold(edit)
    }

    /// The clock that a text counts as when two are put in order: of a text that the server merged, the greatest device
    /// clock among what it was merged from.
    private func origin(of clock: Clock, of id: UniqueID) throws -> Clock {
        guard clock.node == context.server else { return clock }
        return try find(.text, clock, of: id)?.parcel.textOrigin ?? clock
    }

    private mutating func addText(
        _ text: String, origin: Clock, after clock: Clock, to entity: inout Entity
    ) {
        let clock = tick(after: clock, entity.lastClock)
        let edit = Edit(.text, .string(text), at: clock)
        add(Parcel(object: entity.uniqueID, objectType: .note, edits: [edit], textOrigin: origin, isServers: true))
        entity.fold(edit)
    }
}
