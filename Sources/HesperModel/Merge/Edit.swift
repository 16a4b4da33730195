/// One attribute of one object, set to one value at one clock (merge.md, Edits).
public struct Edit: Sendable, Equatable {
    public let attribute: Attribute
    /// Nil where thinning dropped a superseded value and kept its key.
    public let value: Value?
    /// Nil for what is set once.
    public let clock: Clock?

    public init(_ attribute: Attribute, _ value: Value?, at clock: Clock?) {
        self.attribute = attribute
        self.value = value
        self.clock = clock
    }
}

/// The edits of one object that came in one push: a row of the bag.
public struct Parcel: Sendable, Equatable {
    public let object: UniqueID
    public let objectType: ObjectType?
    public var edits: [Edit]
    /// For a text that the server made: the greatest device clock among what it was merged from (merge.md, Text).
    public var textOrigin: Clock?
    /// The clocks of texts that its text descends from and that the bag lacked when it came; its text's own clock among
    /// them, if that was given back.
    public var missingAncestors: [Clock]
    /// Whether the server made these edits itself.
    public var isServerMade: Bool
    /// Whether they keep what a deletion had not seen: then no device counts as having pushed them.
    public var isRescue: Bool

    public init(
        object: UniqueID, objectType: ObjectType?, edits: [Edit], textOrigin: Clock? = nil,
        missingAncestors: [Clock] = [], isServerMade: Bool = false, isRescue: Bool = false
    ) {
        self.missingAncestors = missingAncestors
        self.isRescue = isRescue
        self.object = object
        self.objectType = objectType
        self.edits = edits
        self.textOrigin = textOrigin
        self.isServerMade = isServerMade
    }

    public var textClock: Clock? { edits.first { $0.attribute == .text }?.clock }
    public var firstClock: Clock? { edits.compactMap(\.clock).min() }
    public var lastClock: Clock? { edits.compactMap(\.clock).max() }
}
