/// What a push makes of a scope, as far as it has been merged: objects as they were and as they are by now, and what goes into
/// the bag.
struct ScopeDraft {
    let bag: any Bag
    let context: Merge.Context
    private var clocks: ClockSource
    private var loaded: BagLoad
    /// Objects as they were, by ID, and those that were touched, as they are by now.
    private var before: [UniqueID: ObjectState]
    private var after: [UniqueID: StateChange.NewState] = [:]
    /// In the order in which they were touched.
    private(set) var touched: [UniqueID] = []
    /// What goes into the bag: the push's own edits and the server's.
    private(set) var parcels: [Parcel] = []
    /// Where the parcels of an object stand in ``parcels``.
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

    /// What stands for an ID by now; nil if nobody has seen it.
    func state(_ id: UniqueID) -> StateChange.NewState? {
        if let state = after[id] { return state }
        switch before[id] {
        case .entity(let entity, _)?: return .entity(entity)
        case .deleted(let deleted, _)?: return .deleted(deleted)
        case nil: return nil
        }
    }

    /// Whether the bag had something of it before the push.
    func wasKnown(_ id: UniqueID) -> Bool { before[id] != nil }

    func isTouched(_ id: UniqueID) -> Bool { after[id] != nil }

    mutating func set(_ id: UniqueID, _ state: StateChange.NewState) {
        if after.updateValue(state, forKey: id) == nil { touched.append(id) }
    }

    /// Makes sure that the state before is known of objects that the push itself does not name.
    mutating func load(_ ids: [UniqueID]) throws {
        let unknown = ids.filter { before[$0] == nil && after[$0] == nil }
        guard !unknown.isEmpty else { return }
        let found = try bag.states(of: unknown, counting: &loaded)
        before.merge(found) { first, _ in first }
    }

    /// The notes that the push does not touch, waiting ones too, that hold an attachment: of those that it touches, what they hold by
    /// now counts.
    func untouchedHolders(of attachment: UniqueID) throws -> [UniqueID] {
        try bag.holders(of: attachment).filter { !isTouched($0) }
    }

    /// The touched objects whose state is not what it was.
    var changes: [StateChange] {
        touched.compactMap { id in
            guard let after = after[id] else { return nil }
            switch (before[id], after) {
            case (.entity(let before, _)?, .entity(let after)) where before == after: return nil
            case (.deleted(let before, _)?, .deleted(let after)) where before == after: return nil
            // Of an object that was new, everything may have been refused.
            case (nil, .entity(let entity)) where entity == entity.section.empty(id): return nil
            case (_, _): return StateChange(uniqueID: id, before: before[id], after: after)
            }
        }
    }

    // MARK: Edits

    /// Adds a parcel to what goes into the bag.
    /// - Returns: where it stands.
    @discardableResult
    mutating func add(_ parcel: Parcel) -> Int {
        parcels.append(parcel)
        parcelIndices[parcel.object, default: []].append(parcels.count - 1)
        return parcels.count - 1
    }

    /// Puts an edit into a parcel; of a text, also the clocks that it names and the bag lacks.
    mutating func append(_ edit: Edit, to parcel: Int, missing: [Clock] = []) {
        parcels[parcel].edits.append(edit)
        parcels[parcel].missingAncestors += missing
    }

    /// Empties a parcel.
    mutating func clear(_ parcel: Int) { parcels[parcel].edits = [] }

    /// Takes an edit of an object out of a parcel again.
    mutating func remove(_ edit: Edit, of id: UniqueID, from parcel: Int) {
        parcels[parcel].edits.removeAll { $0 == edit }
        guard case .entity(let now)? = state(id) else { return }
        var entity = now.section.empty(id)
        if case .entity(let standing, _)? = before[id] { entity = standing }
        for edit in added(to: id).flatMap(\.edits) { entity.fold(edit) }
        set(id, .entity(entity))
    }

    /// What the push has added to the bag for an object so far.
    func added(to id: UniqueID) -> [Parcel] { parcelIndices[id, default: []].map { parcels[$0] } }

    /// The edit with this key, in the bag or among what the push has added, and the parcel that it came in.
    func find(_ attribute: Attribute, _ clock: Clock, of id: UniqueID) throws -> (edit: Edit, parcel: Parcel)? {
        for parcel in added(to: id) + (wasKnown(id) ? try bag.parcels(of: id, holding: clock) : []) {
            if let edit = parcel.edits.first(where: { $0.attribute == attribute && $0.clock == clock }) {
                return (edit, parcel)
            }
        }
        return nil
    }

    /// The text of an object with this clock; nil if it is not there, or was thinned away.
    func text(_ clock: Clock, of id: UniqueID) throws -> String? {
        if case .string(let text)? = try find(.text, clock, of: id)?.edit.value { text } else { nil }
    }

    enum Known {
        case unknown
        /// The bag has it, with this value (or with a value that was thinned away).
        case same
        /// The bag has it with another value.
        case another
    }

    /// Looks for an edit's key in the bag and among what the push has added.
    func known(
        _ edit: Edit, _ clock: Clock, of id: UniqueID, standing: Register<Value>?
    ) throws -> Known {
        // The standing clock is the greatest in the bag, so only lesser ones need to be looked for. An attribute that was
        // never set has no edits; those of a deleted object are in the bag alone.
        if let standing {
            if clock > standing.clock { return .unknown }
            if clock == standing.clock { return edit.value == standing.value ? .same : .another }
        } else {
            guard case .deleted? = state(id) else { return .unknown }
        }
        guard let found = try find(edit.attribute, clock, of: id) else { return .unknown }
        return found.edit.value == nil || found.edit.value == edit.value ? .same : .another
    }

    // MARK: Clocks

    /// A clock of the server's, greater than those of everything that it touches.
    mutating func tick(after clocks: Clock?...) -> Clock {
        for case let clock? in clocks { self.clocks.observe(clock) }
        return self.clocks.tick(at: wall)
    }

    /// Why a clock cannot be taken; nil if it can (merge.md, Clocks, Clock skew).
    func ahead(_ clock: Clock, field: String, pointer: String) -> Problem? {
        guard clock.milliseconds > wall + Limits.clockAhead,
            clock.milliseconds > context.greatestClock?.milliseconds ?? 0
        else { return nil }
        return Problem(
            .clockAhead,
            "The clock of \(field) is more than 5 minutes ahead of the server's: set yours back, stamp again, and retry.",
            at: pointer, context: ["serverClock": .string(serverNow.description)])
    }

    /// Why what a lost device made is not taken, whoever brings it; nil if it is.
    func revoked(_ clock: Clock, field: String, pointer: String) -> Problem? {
        guard let moment = context.revoked[clock.node], clock.timestamp > moment else { return nil }
        return Problem(
            .deviceRevoked,
            "\(field) is by a device that was revoked as lost: nothing that it made after \(moment) is taken.",
            at: pointer)
    }

    /// What the server's clock says now, for a device to learn its offset from.
    private var serverNow: Clock {
        var clocks = clocks
        return clocks.tick(at: wall)
    }

    /// The server's wall clock, in milliseconds.
    private var wall: UInt64 { UInt64(max(context.now.milliseconds, 0)) }
}
