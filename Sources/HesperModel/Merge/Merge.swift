/// Merges one push into a scope: a pure function of the push, of what the bag holds, and of the time (merge.md, One push).
///
/// In this order: known keys are set aside; deletions; then all registers and new objects; then, on the final state, tag
/// names are made unique and each attachment's holder is checked. What is refused is refused field by field.
public struct Merge {
    /// Who pushes, when, and how far the clocks of the scope are.
    public struct Context: Sendable {
        /// The server's wall clock.
        public var now: Timestamp
        /// The node of the installation.
        public var server: NodeID
        /// The last clock that the server ticked in this scope.
        public var serverClock: Clock?
        /// The greatest clock in the scope, by whomever.
        public var greatestClock: Clock?
        /// Devices that were revoked as lost, and the moments from which on nothing that they made is taken (merge.md, Devices).
        public var revoked: [NodeID: Timestamp]
        /// Where the scope stood when the server was restored from a backup; nil if it never was (merge.md, Text).
        public var restoredSequence: Int64?
        /// The device that pushes; nil for the server itself.
        public var sender: NodeID?
        public var bounds = Bounds()
        /// What the account stores and may store; nil if no element needs to be judged by it.
        public var room: Room?

        public init(
            now: Timestamp, server: NodeID, serverClock: Clock?, greatestClock: Clock?,
            revoked: [NodeID: Timestamp] = [:], restoredSequence: Int64? = nil, sender: NodeID? = nil,
            room: Room? = nil
        ) {
            self.restoredSequence = restoredSequence
            self.sender = sender
            self.room = room
            self.revoked = revoked
            self.now = now
            self.server = server
            self.serverClock = serverClock
            self.greatestClock = greatestClock
        }
    }

    /// How much a merge may do itself, while its scope is locked.
    public struct Bounds: Sendable {
        /// Merges of texts that were prepared; nil if all texts are merged here, however large they are.
        public var texts: PreparedTexts?
        /// The maximum number of bytes of texts that are merged here without preparation.
        public var textBytes = 256 << 10
        /// The maximum of what may be loaded of the bag, in bytes of bodies: all of it is in memory.
        public var loadBytes = 256 << 20

        public init() {}

        /// For the push of a device.
        public static func device(_ texts: PreparedTexts?) -> Bounds {
            var bounds = Bounds()
            bounds.texts = texts
            bounds.loadBytes = Limits.pushLoadBytes
            return bounds
        }
    }

    let bag: any Bag
    let context: Context
    var source: ClockSource
    private var loaded: BagLoad
    /// Objects as they were, and as they are by now, by ID.
    var before: [UniqueID: ObjectState]
    var states: [UniqueID: StateChange.After] = [:]
    /// Touched objects, in the order in which they were.
    var touched: [UniqueID] = []
    /// What goes into the bag: this push's own edits and the server's.
    var parcels: [Parcel] = []
    /// Where the parcels of an object stand in ``parcels``.
    var parcelIndices: [UniqueID: [Int]] = [:]
    /// Texts of this push whose base is not known: no merge has taken them in.
    var unmerged: Set<Clock> = []
    /// Texts of this push that others in the bag descend from.
    var history: Set<Clock> = []
    /// Words of this push's texts that are not in what stands instead, whose clock is the second.
    var superseded: [Clock: ([TextMerge.Superseded], by: Clock)] = [:]
    /// Notes that were deleted with words which their deleters had not seen.
    var rescues: [Rescue] = []
    /// Texts that lost words, in the order in which they did.
    var lostTexts: [LostText] = []
    /// Bytes of texts that were merged without preparation, and merges that are to be prepared.
    var textBytes = 0
    var unprepared: [PreparedTexts.Need] = []
    /// How many bytes the parcels have that were taken from the push so far; counted only with ``Context/room``.
    var bytesOfPush: Int64 = 0
    var notes: [Int: ElementNotes] = [:]

    /// What is remembered of an element until its receipt is written.
    struct ElementNotes {
        /// Accepted edits, and whether the bag had them.
        var edits: [(edit: Edit, isKnown: Bool)] = []
        var refused: [String: Problem] = [:]
        var problem: Problem?
        /// Where its parcel stands in ``Merge/parcels``.
        var parcel: Int?
        var deletion: Receipt.Status?
        /// The note that was made of words which a deletion had not seen.
        var rescue: UniqueID?
    }

    /// - Throws: what the bag throws; ``Problem`` `too-large`, if more of it would have to be loaded than may be.
    public static func apply(_ push: Push, to bag: any Bag, in context: Context) throws -> MergeOutcome {
        var merge = try Merge(push, bag, context)
        for (index, element) in push.elements.enumerated() {
            if case .deletion(let deletion) = element { try merge.delete(deletion, index) }
        }
        for (index, element) in push.elements.enumerated() {
            if case .change(let change) = element { try merge.change(change, index) }
        }
        guard merge.unprepared.isEmpty else { return MergeOutcome(unprepared: merge.unprepared) }
        try merge.makeRescues()
        try merge.makeTagNamesUnique()
        try merge.checkHolders(push)
        return merge.outcome(of: push)
    }

    private init(_ push: Push, _ bag: any Bag, _ context: Context) throws {
        self.bag = bag
        self.context = context
        source = ClockSource(node: context.server, last: context.serverClock)
        var load = BagLoad(limit: context.bounds.loadBytes)
        before = try bag.states(of: push.ids, counting: &load)
        loaded = load
    }

    // MARK: States

    /// What stands for an ID by now; nil if nobody has seen it.
    func state(_ id: UniqueID) -> StateChange.After? {
        if let state = states[id] { return state }
        switch before[id] {
        case .entity(let entity, _)?: return .entity(entity)
        case .deleted(let deleted, _)?: return .deleted(deleted)
        case nil: return nil
        }
    }

    mutating func set(_ id: UniqueID, _ state: StateChange.After) {
        if states.updateValue(state, forKey: id) == nil { touched.append(id) }
    }

    /// Makes sure that the state before is known of objects that the push itself does not name.
    mutating func load(_ ids: [UniqueID]) throws {
        let unknown = ids.filter { before[$0] == nil && states[$0] == nil }
        guard !unknown.isEmpty else { return }
        let found = try bag.states(of: unknown, counting: &loaded)
        before.merge(found) { first, _ in first }
    }

    /// Adds a parcel to what goes into the bag.
    /// - Returns: where it stands.
    @discardableResult
    mutating func add(_ parcel: Parcel) -> Int {
        parcels.append(parcel)
        parcelIndices[parcel.object, default: []].append(parcels.count - 1)
        return parcels.count - 1
    }

    /// What this push has added to the bag for an object so far.
    func added(to id: UniqueID) -> [Parcel] { parcelIndices[id, default: []].map { parcels[$0] } }

    // MARK: Clocks

    /// A clock of the server's, greater than those of everything that it touches.
    mutating func tick(after clocks: Clock?...) -> Clock {
        for case let clock? in clocks { source.observe(clock) }
        return source.tick(at: UInt64(max(context.now.milliseconds, 0)))
    }

    /// Why a clock cannot be taken; nil if it can (merge.md, Clocks, Ahead).
    func ahead(_ clock: Clock, field: String, pointer: String) -> Problem? {
        let wall = UInt64(max(context.now.milliseconds, 0))
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
        var source = source
        return source.tick(at: UInt64(max(context.now.milliseconds, 0)))
    }

    // MARK: Deletions

    private mutating func delete(_ deletion: Deletion, _ index: Int) throws {
        let now = context.now
        let deleted = DeletedObject(
            uniqueID: deletion.uniqueID, objectType: deletion.objectType, mergedInto: deletion.mergedInto,
            rescuedInto: deletion.rescuedInto, deletionDate: min(deletion.deletionDate ?? now, now))
        switch state(deletion.uniqueID) {
        case .deleted(let standing)? where standing.objectType != deletion.objectType:
            notes[index, default: ElementNotes()].problem = wrongType(
                standing.objectType, deletion.uniqueID, at: "\(deletion.pointer)/objectType")
        case .deleted(var standing)?:
            let changed = standing.fold(deleted)
            if changed { set(deletion.uniqueID, .deleted(standing)) }
            let stands = standing.mergedInto == deletion.mergedInto
            notes[index, default: ElementNotes()].deletion = !stands ? .merged : changed ? .applied : .unchanged
        case .entity(let entity)? where !matches(entity, deletion.objectType):
            notes[index, default: ElementNotes()].problem = wrongType(
                entity.objectType, deletion.uniqueID, at: "\(deletion.pointer)/objectType")
        case .entity(let entity)?:
            if case .note(let note) = entity, try isUnseen(note, by: deletion) {
                rescues.append(Rescue(element: index, note: note))
            }
            set(deletion.uniqueID, .deleted(deleted))
            notes[index, default: ElementNotes()].deletion = .applied
        case nil:
            set(deletion.uniqueID, .deleted(deleted))
            notes[index, default: ElementNotes()].deletion = .applied
        }
    }

    private func matches(_ entity: Entity, _ type: ObjectType) -> Bool {
        entity.objectType.map { $0 == type } ?? type.isAppsOwn
    }

    func wrongType(_ type: ObjectType?, _ id: UniqueID, at pointer: String) -> Problem {
        Problem(
            .invalidField, "\(id) is a \(type?.name ?? "object") already; another object takes another ID.", at: pointer
        )
    }
}
