/// The result of merging a push: edits to append, objects to write, and one receipt per element.
public struct MergeOutcome: Sendable {
    /// New edits, in the order in which they must be added to the bag.
    public var parcels: [Parcel] = []
    /// The objects whose state changed. Each is listed once.
    public var changes: [StateChange] = []
    /// One receipt per element of the push, in the same order.
    public var receipts: [Receipt] = []
    /// Texts in the bag or in ``parcels`` that lost words in a merge. Thinning never removes these texts.
    public var lostTexts: [LostText] = []
    /// Merges of large texts that the caller must prepare before it applies the push again. If there are any, all other properties
    /// must be ignored.
    public var pendingMerges: [PreparedTexts.PendingMerge] = []
    /// Among the clocks that the push adds to the bag, the greatest clock of the server's node; nil if there is none.
    public var serverClock: Clock?
    /// The greatest clock that the push adds to the bag; nil if it adds none.
    public var greatestClock: Clock?

    public init(pendingMerges: [PreparedTexts.PendingMerge] = []) { self.pendingMerges = pendingMerges }
}

/// A text that lost words in a merge (merge.md, Text).
public struct LostText: Sendable, Hashable {
    public let object: UniqueID
    public let attribute: Attribute
    public let clock: Clock

    public init(object: UniqueID, attribute: Attribute = .text, clock: Clock) {
        self.object = object
        self.attribute = attribute
        self.clock = clock
    }
}

/// An object before and after a push.
public struct StateChange: Sendable, Equatable {
    public let uniqueID: UniqueID
    /// The state before the push; nil if the scope did not know the object.
    public let before: ObjectState?
    public let after: NewState

    public enum NewState: Sendable, Equatable {
        case entity(Entity)
        case deleted(DeletedObject)
    }

    public init(uniqueID: UniqueID, before: ObjectState?, after: NewState) {
        self.uniqueID = uniqueID
        self.before = before
        self.after = after
    }

    /// The object before the push; nil if the scope did not know the object, or if the object was deleted.
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
