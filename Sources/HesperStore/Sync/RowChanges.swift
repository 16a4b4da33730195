import HesperModel

/// The changes that a merge makes to the rows of a database. This type assigns the sequence numbers. It derives the index entries
/// from the objects before and after the merge.
public struct RowChanges {
    /// Objects that are new or have changed.
    public private(set) var objects: [Object] = []
    public private(set) var deletions: [Deleted] = []
    /// Tags and attachments that objects no longer hold.
    public private(set) var lostMembers: [Member] = []
    /// Tags and attachments that objects have begun to hold.
    public private(set) var newMembers: [Member] = []
    /// Names that tags no longer have. All of them must be deleted from the index before ``claimedNames`` are inserted, because a
    /// push may swap the names of two tags.
    public private(set) var releasedNames: [NamedTag] = []
    public private(set) var claimedNames: [NamedTag] = []
    /// Attachments that an object has begun to hold or no longer holds, ordered by ID.
    public private(set) var touchedAttachments: [UniqueID] = []
    /// Objects that must be swept, ordered by ID.
    public private(set) var sweeps: [UniqueID] = []
    /// The texts that lost words in this merge. If such a text is already stored, its row must be marked. If it is in ``parcels``,
    /// ``NumberedParcel/hasLostWords`` is true.
    public let lostTexts: [LostText]
    public private(set) var parcels: [NumberedParcel] = []
    /// The head of the scope after the merge.
    public private(set) var head: ScopeHead
    public private(set) var sequences: [UniqueID: Int64] = [:]
    public let greatestClock: Clock?
    public let serverClock: Clock?

    public struct Object {
        public let entity: Entity
        public let digest: Digest
        /// The sequence number of the object; nil if the object does not exist yet because required fields have not arrived.
        public let sequence: Int64?
        public let isNew: Bool
    }

    public struct Deleted {
        public let deleted: DeletedObject
        public let sequence: Int64
        /// Whether the table `objects` has a row with the ID of the deleted object. If so, this row must be deleted.
        public let wasObject: Bool

        /// The object that replaces the deleted object: the tag into which it was merged, or the object into which its
        /// texts were rescued (``DeletedObject/rescuedInto``). Nil if there is none.
        public var target: UniqueID? { deleted.mergedInto ?? deleted.rescuedInto }
    }

    public struct Member: Equatable {
        public let member: UniqueID
        /// The object that holds or held the member.
        public let object: UniqueID
    }

    public struct NamedTag: Equatable {
        public let name: String
        public let tag: UniqueID
    }

    public struct NumberedParcel {
        public let parcel: Parcel
        public let sequence: Int64
        /// Whether the parcel's text lost words in a merge.
        public let hasLostWords: Bool

        public init(parcel: Parcel, sequence: Int64, hasLostWords: Bool) {
            self.parcel = parcel
            self.sequence = sequence
            self.hasLostWords = hasLostWords
        }

        /// The concatenated bytes of the clocks in ``Parcel/missingAncestors``; nil if there are no such clocks.
        public var missingAncestors: [UInt8]? {
            parcel.missingAncestors.isEmpty ? nil : parcel.missingAncestors.flatMap(\.bytes)
        }
    }

    /// Derives the changes from the outcome of a merge.
    /// - Throws: ``StoreError/failed(_:)`` if the merge restored a deleted object, which would be a bug.
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
            throw StoreError.failed("a merge restored the deleted object \(change.uniqueID)")
        case (let before, .entity(let entity)):
            objects.append(Object(entity: entity, digest: digest, sequence: sequence, isNew: before == nil))
        case (_, .deleted(let deleted)):
            deletions.append(
                Deleted(deleted: deleted, sequence: sequence ?? 0, wasObject: change.entityBefore != nil))
        }
        // The tags and attachments that an object holds are stored even if the object does not exist yet because required fields
        // have not arrived. They are removed when the object is deleted.
        let before = change.entityBefore?.heldMembers ?? []
        let after = change.entityAfter?.heldMembers ?? []
        guard before != after else { return }
        lostMembers += before.subtracting(after).map { Member(member: $0, object: change.uniqueID) }
        newMembers += after.subtracting(before).map { Member(member: $0, object: change.uniqueID) }
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
                hasLostWords: parcel.lostText.map(lost.contains) ?? false)
        }
    }

    /// Collects the objects to be swept: all objects that were changed, were deleted, or received edits. New objects with only one
    /// parcel are left out.
    private mutating func addSweeps(_ outcome: MergeOutcome) {
        var (new, due): (Set<UniqueID>, Set<UniqueID>) = ([], [])
        for change in outcome.changes {
            if change.before == nil { new.insert(change.uniqueID) } else { due.insert(change.uniqueID) }
        }
        // The first parcel of a new object supersedes no values, so it causes no sweep.
        for parcel in outcome.parcels where new.remove(parcel.object) == nil { due.insert(parcel.object) }
        sweeps = due.sorted()
    }
}

extension Parcel {
    /// Identifies the parcel's text. ``MergeOutcome/lostTexts`` contains this value if the text lost words. Nil if the parcel has
    /// no text.
    fileprivate var lostText: LostText? {
        edits.first(where: \.attribute.isText).flatMap { edit in
            edit.clock.map { LostText(object: object, attribute: edit.attribute, clock: $0) }
        }
    }
}
