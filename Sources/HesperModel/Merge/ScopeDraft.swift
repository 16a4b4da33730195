/// The state of a scope while a push is merged: the objects before and after, and the parcels to add to the bag.
struct ScopeDraft {
    let bag: any Bag
    let context: Merge.Context
    private var clocks: ClockSource
    private var loaded: BagLoad
    /// For each loaded object, its state before the push.
    private var before: [UniqueID: ObjectState]
    /// For each changed object, its present state.
    private var after: [UniqueID: StateChange.NewState] = [:]
    /// The IDs of the changed objects, in the order of their first change.
    private(set) var touched: [UniqueID] = []
    /// The parcels to add to the bag. Some were pushed, and others were made by the server.
    private(set) var parcels: [Parcel] = []
    /// For each object, the indices of its parcels in ``parcels``.
    private var parcelIndices: [UniqueID: [Int]] = [:]

    init(_ push: Push, _ bag: any Bag, _ context: Merge.Context) throws {
        self.bag = bag
        self.context = context
        clocks = ClockSource(node: context.server, last: context.serverClock)
        var load = BagLoad(limit: context.bounds.loadBytes)
        before = try bag.states(of: push.ids, counting: &load)
        loaded = load
    }

    // MARK: Objects

    /// The present state of an object; nil if the object is unknown.
    func state(_ id: UniqueID) -> StateChange.NewState? {
        if let state = after[id] { return state }
        switch before[id] {
        case .entity(let entity, _)?: return .entity(entity)
        case .deleted(let deleted, _)?: return .deleted(deleted)
        case nil: return nil
        }
    }

    /// Whether the bag knew the object before the push.
    func wasKnown(_ id: UniqueID) -> Bool { before[id] != nil }

    func isTouched(_ id: UniqueID) -> Bool { after[id] != nil }

    mutating func set(_ id: UniqueID, _ state: StateChange.NewState) {
        if after.updateValue(state, forKey: id) == nil { touched.append(id) }
    }

    /// Loads objects that the push does not name.
    mutating func load(_ ids: [UniqueID]) throws {
        let unknown = ids.filter { before[$0] == nil && after[$0] == nil }
        guard !unknown.isEmpty else { return }
        let found = try bag.states(of: unknown, counting: &loaded)
        before.merge(found) { first, _ in first }
    }

    /// The notes and the apps' own objects that have this attachment. Objects that this push changes are left out. Objects that do
    /// not exist yet, because their required field is not set, are included.
    func untouchedHolders(of attachment: UniqueID) throws -> [UniqueID] {
        try bag.holders(of: attachment).filter { !isTouched($0) }
    }

    /// The objects whose state differs from their state before the push.
    var changes: [StateChange] {
        touched.compactMap { id in
            guard let after = after[id] else { return nil }
            switch (before[id], after) {
            case (.entity(let before, _)?, .entity(let after)) where before == after: return nil
            case (.deleted(let before, _)?, .deleted(let after)) where before == after: return nil
            // If all edits of a new object were rejected, nothing has changed.
            case (nil, .entity(let entity)) where entity == entity.section.empty(id): return nil
            case (_, _): return StateChange(uniqueID: id, before: before[id], after: after)
            }
        }
    }

    // MARK: Edits

    /// Adds a parcel.
    /// - Returns: the index of the parcel in ``parcels``.
    @discardableResult
    mutating func add(_ parcel: Parcel) -> Int {
        parcels.append(parcel)
        parcelIndices[parcel.object, default: []].append(parcels.count - 1)
        return parcels.count - 1
    }

    /// Appends an edit to a parcel.
    /// - Parameter missing: the clocks of the text's ancestors that are not in the bag. Empty if the edit does not set a text.
    mutating func append(_ edit: Edit, to parcel: Int, missing: [Clock] = []) {
        parcels[parcel].edits.append(edit)
        parcels[parcel].missingAncestors += missing
    }

    /// Returns the parcel to which an edit can be added. This is a new parcel if the edit sets a text and `parcel` already has a
    /// text. Otherwise, it is `parcel`.
    mutating func parcel(for edit: Edit, beside parcel: Int) -> Int {
        guard edit.attribute.isText, parcels[parcel].text != nil else { return parcel }
        return add(Parcel(object: parcels[parcel].object, objectType: parcels[parcel].objectType, edits: []))
    }

    /// Removes all edits of a parcel.
    mutating func clear(_ parcel: Int) { parcels[parcel].edits = [] }

    /// Removes an edit of an object from a parcel, and folds the object without it.
    mutating func remove(_ edit: Edit, of id: UniqueID, from parcel: Int) {
        parcels[parcel].edits.removeAll { $0 == edit }
        guard case .entity(let now)? = state(id) else { return }
        var entity = now.section.empty(id)
        if case .entity(let original, _)? = before[id] { entity = original }
        for edit in added(to: id).flatMap(\.edits) { entity.fold(edit) }
        set(id, .entity(entity))
    }

    /// The parcels that the push has added for an object so far.
    func added(to id: UniqueID) -> [Parcel] { parcelIndices[id, default: []].map { parcels[$0] } }

    /// The edit with this attribute and clock, and its parcel. Searches the bag and the parcels that the push has added. Nil if
    /// there is none.
    func find(_ attribute: Attribute, _ clock: Clock, of id: UniqueID) throws -> (edit: Edit, parcel: Parcel)? {
        for parcel in added(to: id) + (wasKnown(id) ? try bag.parcels(of: id, holding: clock) : []) {
            if let edit = parcel.edits.first(where: { $0.attribute == attribute && $0.clock == clock }) {
                return (edit, parcel)
            }
        }
        return nil
    }

    /// The version of a text that was set at this clock in an object; nil if none was set at this clock, or if it was thinned away.
    func text(_ attribute: Attribute, _ clock: Clock, of id: UniqueID) throws -> String? {
        if case .string(let text)? = try find(attribute, clock, of: id)?.edit.value { text } else { nil }
    }

    enum KeyLookup {
        case absent
        /// An edit with this attribute and clock exists. Its value is equal to the value of the given edit, or was thinned away and
        /// cannot be compared.
        case sameValue
        /// An edit with this attribute and clock exists. Its value differs from the value of the given edit.
        case differentValue
    }

    /// Looks up whether the bag, or the push so far, contains an edit with this attribute and clock.
    func lookUp(
        _ edit: Edit, _ clock: Clock, of id: UniqueID, current: Register<Value>?
    ) throws -> KeyLookup {
        // The current clock is the attribute's greatest clock, so only smaller clocks need a lookup. An attribute
        // without a current clock has no edits, except in a deleted object, whose edits are stored but not folded.
        if let current {
            if clock > current.clock { return .absent }
            if clock == current.clock { return edit.value == current.value ? .sameValue : .differentValue }
        } else {
            guard case .deleted? = state(id) else { return .absent }
        }
        guard let found = try find(edit.attribute, clock, of: id) else { return .absent }
        return found.edit.value == nil || found.edit.value == edit.value ? .sameValue : .differentValue
    }

    // MARK: Clocks

    /// Makes a clock of the server that is greater than the given clocks.
    mutating func tick(after clocks: Clock?...) -> Clock {
        for case let clock? in clocks { self.clocks.observe(clock) }
        return self.clocks.tick(at: wall)
    }

    /// The problem if a clock is too far ahead of the server's clock; nil if it is not (merge.md, Clocks, Clock skew).
    func ahead(_ clock: Clock, field: String, pointer: String) -> Problem? {
        guard clock.milliseconds > wall + Limits.clockAhead,
            clock.milliseconds > context.greatestClock?.milliseconds ?? 0
        else { return nil }
        return Problem(
            .clockAhead,
            "The clock of \(field) is more than 5 minutes ahead of the server's clock. "
                + "Correct the device's clock, set new clocks for the unsent edits, and retry.",
            at: pointer, context: ["serverClock": .string(serverNow.description)])
    }

    /// The problem if a clock was made by a revoked device, after the time from which the edits of that device are rejected. Nil
    /// if the edit may be accepted.
    func revoked(_ clock: Clock, field: String, pointer: String) -> Problem? {
        guard let moment = context.revoked[clock.node], clock.timestamp > moment else { return nil }
        return Problem(
            .deviceRevoked,
            "\(field) was set by a device that was revoked as lost. Its edits after \(moment) are rejected.",
            at: pointer)
    }

    /// The server's present clock. A device that receives it computes the difference between its own clock and the server's.
    private var serverNow: Clock {
        var clocks = clocks
        return clocks.tick(at: wall)
    }

    /// The server's wall clock, in milliseconds.
    private var wall: UInt64 { UInt64(max(context.now.milliseconds, 0)) }
}
