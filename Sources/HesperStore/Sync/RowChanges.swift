import HesperModel

/// What a store has to write of what a merge came to, in the terms of its tables: the numbers are given out, and what is
/// kept to find objects by follows from the objects before and after.
public struct Writing {
    /// Objects as they are by now.
    public private(set) var objects: [Object] = []
    public private(set) var deletions: [Deleted] = []
    /// Members that a note no longer holds, and those that it has come to hold.
    public private(set) var lostMembers: [Member] = []
    public private(set) var newMembers: [Member] = []
    /// Names that tags give up. All go before any is taken: within one push, two tags may swap theirs.
    public private(set) var releasedNames: [NamedTag] = []
    public private(set) var claimedNames: [NamedTag] = []
    /// Attachments of which notes let go, or which they came to hold, by ID.
    public private(set) var touchedAttachments: [UniqueID] = []
    /// Objects that time may have something to remove of, by ID.
    public private(set) var sweeps: [UniqueID] = []
    /// Texts of earlier pushes that lost words.
    public let lostTexts: [LostText]
    public private(set) var parcels: [NumberedParcel] = []
    /// Where the scope stands afterwards.
    public private(set) var head: ScopeHead
    public private(set) var sequences: [UniqueID: Int64] = [:]
    public let greatestClock: Clock?
    public let serverClock: Clock?

    public struct Object {
        public let entity: Entity
        public let digest: Digest
        /// Nil while it waits.
        public let sequence: Int64?
        public let isNew: Bool
    }

    public struct Deleted {
        public let deleted: DeletedObject
        public let sequence: Int64
        /// Whether it was an object until now.
        public let wasObject: Bool

        /// What it was merged, or rescued, into.
        public var target: UniqueID? { deleted.mergedInto ?? deleted.rescuedInto }
    }

    public struct Member: Equatable {
        public let member: UniqueID
        public let note: UniqueID
    }

    public struct NamedTag: Equatable {
        public let name: String
        public let tag: UniqueID
    }

    public struct NumberedParcel {
        public let parcel: Parcel
        public let sequence: Int64
        /// Whether its text lost words in a merge.
        public let hasLostWords: Bool

        public init(parcel: Parcel, sequence: Int64, hasLostWords: Bool) {
            self.parcel = parcel
            self.sequence = sequence
            self.hasLostWords = hasLostWords
        }

        /// ``Parcel/missingAncestors``, one after the other; nil if there are none.
        public var missingAncestors: [UInt8]? {
            parcel.missingAncestors.isEmpty ? nil : parcel.missingAncestors.flatMap(\.bytes)
        }
    }

    /// - Throws: ``StoreError/failed(_:)`` if an object would come back from the dead.
    public init(_ outcome: MergeOutcome, to scope: LockedScope) throws {
        head = scope.head
        lostTexts = outcome.lostTexts
        greatestClock = [scope.greatestClock, outcome.greatestClock].compactMap(\.self).max()
        serverClock = outcome.serverClock ?? scope.serverClock
        var sequence = scope.head.sequence
        var digest = scope.head.digest
        sequences.reserveCapacity(outcome.changes.count)
        objects.reserveCapacity(outcome.changes.count)
        for change in outcome.changes {
            let digestAfter = change.digestAfter
            digest ^= change.digestBefore ^ digestAfter
            let exists = change.entityAfter?.exists ?? true
            if exists {
                sequence += 1
                sequences[change.uniqueID] = sequence
            }
            try add(change, digest: digestAfter, sequence: exists ? sequence : nil)
        }
        head = ScopeHead(scope: scope.head.scope, sequence: sequence, digest: digest)
        addNames(outcome.changes)
        addHolders(outcome.changes)
        addParcels(outcome)
        addSweeps(outcome)
    }

    private mutating func add(_ change: StateChange, digest: Digest, sequence: Int64?) throws {
        switch (change.before, change.after) {
        case (.deleted?, .entity):
            throw StoreError.failed("an object came back from the dead: \(change.uniqueID)")
        case (let before, .entity(let entity)):
            objects.append(Object(entity: entity, digest: digest, sequence: sequence, isNew: before == nil))
        case (_, .deleted(let deleted)):
            deletions.append(
                Deleted(deleted: deleted, sequence: sequence ?? 0, wasObject: change.entityBefore != nil))
        }
        // Members have rows from when their note is first heard of until it is deleted.
        let before = change.entityBefore?.heldMembers ?? []
        let after = change.entityAfter?.heldMembers ?? []
        guard before != after else { return }
        lostMembers += before.subtracting(after).map { Member(member: $0, note: change.uniqueID) }
        newMembers += after.subtracting(before).map { Member(member: $0, note: change.uniqueID) }
    }

    private mutating func addNames(_ changes: [StateChange]) {
        for change in changes {
            let (before, after) = (change.entityBefore?.foldedTagName, change.entityAfter?.foldedTagName)
            guard before != after else { continue }
            if let before { releasedNames.append(NamedTag(name: before, tag: change.uniqueID)) }
            if let after { claimedNames.append(NamedTag(name: after, tag: change.uniqueID)) }
        }
    }

    private mutating func addHolders(_ changes: [StateChange]) {
        var touched: Set<UniqueID> = []
        for change in changes {
            let before = change.entityBefore?.heldAttachments ?? []
            touched.formUnion(before.symmetricDifference(change.entityAfter?.heldAttachments ?? []))
        }
        touchedAttachments = touched.sorted()
    }

    private mutating func addParcels(_ outcome: MergeOutcome) {
        let lost = Set(outcome.lostTexts)
        let last = head.sequence
        parcels = outcome.parcels.map { parcel in
            NumberedParcel(
                parcel: parcel, sequence: sequences[parcel.object] ?? last,
                hasLostWords: parcel.textClock.map { lost.contains(LostText(object: parcel.object, clock: $0)) }
                    ?? false)
        }
    }

    /// Objects that were changed or deleted, and those that got edits which changed nothing.
    private mutating func addSweeps(_ outcome: MergeOutcome) {
        var (new, due): (Set<UniqueID>, Set<UniqueID>) = ([], [])
        for change in outcome.changes {
            if change.before == nil { new.insert(change.uniqueID) } else { due.insert(change.uniqueID) }
        }
        // The first edits of a new object supersede nothing.
        for parcel in outcome.parcels where new.remove(parcel.object) == nil { due.insert(parcel.object) }
        sweeps = due.sorted()
    }
}
