/// What one push comes to: edits to append, objects to write, one receipt per change.
public struct MergeOutcome: Sendable {
    /// Edits that the bag did not have, in the order in which they are to be added.
    public var parcels: [Parcel] = []
    /// Every object whose folded state is not what it was, once each.
    public var changes: [StateChange] = []
    /// One for every element of the push, in its order.
    public var receipts: [Receipt] = []
    /// Texts of the bag or of ``parcels`` that have words which no merge took in: no time removes those.
    public var lostTexts: [LostText] = []
    /// Merges of large texts that are to be prepared; unless this is empty, nothing else here may be used.
    public var pendingMerges: [PreparedTexts.PendingMerge] = []
    /// The last clock that the server ticked for it; nil if it ticked none.
    public var serverClock: Clock?
    /// The greatest clock that it adds to the bag; nil if it adds none.
    public var greatestClock: Clock?

    public init(pendingMerges: [PreparedTexts.PendingMerge] = []) { self.pendingMerges = pendingMerges }
}

/// A text that lost words in a merge (merge.md, Text).
public struct LostText: Sendable, Hashable {
    public let object: UniqueID
    public let clock: Clock

    public init(object: UniqueID, clock: Clock) {
        self.object = object
        self.clock = clock
    }
}

/// One object before and after.
public struct StateChange: Sendable, Equatable {
    public let uniqueID: UniqueID
    /// Nil if the scope had never seen it.
    public let before: ObjectState?
    public let after: After

    public enum After: Sendable, Equatable {
        case entity(Entity)
        case deleted(DeletedObject)
    }

    public init(uniqueID: UniqueID, before: ObjectState?, after: After) {
        self.uniqueID = uniqueID
        self.before = before
        self.after = after
    }

    /// What was there, if it was a live or waiting object.
    public var entityBefore: Entity? {
        if case .entity(let entity, _)? = before { entity } else { nil }
    }

    public var digestBefore: Digest {
        switch before {
        case .entity(let entity, _)?: entity.digest
        case .deleted(let deleted, _)?: deleted.digest
        case nil: .zero
        }
    }

    public var digestAfter: Digest {
        switch after {
        case .entity(let entity): entity.digest
        case .deleted(let deleted): deleted.digest
        }
    }
}
