/// One attribute of one object, set to a value at a clock (merge.md, Edits).
public struct Edit: Sendable, Equatable {
    public let attribute: Attribute
    /// The value that the edit sets. Nil if the value was superseded and thinning dropped it; the attribute and the clock of the
    /// edit are kept.
    public let value: Value?
    /// The clock of the edit. Nil for attributes that are set once.
    public let clock: Clock?

    public init(_ attribute: Attribute, _ value: Value?, at clock: Clock?) {
        self.attribute = attribute
        self.value = value
        self.clock = clock
    }
}

/// Edits of one object that came in one push. They are stored together as one row of the bag. If a push sets several texts of an
/// object, each text is in a parcel of its own, because a row describes the descent of one text.
public struct Parcel: Sendable, Equatable {
    public let object: UniqueID
    public let objectType: ObjectType?
    public var edits: [Edit]
    /// For a text that the server made from texts of devices: the greatest clock of those texts (merge.md, Text).
    public var textOrigin: Clock?
    /// The clocks of missing ancestors: texts from which the parcel's text descends, and which the bag lacked when the parcel
    /// arrived. If a device resent the parcel's text to a restored server, the clock of the parcel's text is included too.
    public var missingAncestors: [Clock]
    /// Whether the server made the edits of the parcel.
    public var isServerMade: Bool
    /// Whether the server made the parcel to keep the words of a deleted object in a new object (merge.md, Deleting). Such a parcel
    /// is not attributed to any device.
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

    /// The attribute of the parcel's text; nil if the parcel has no text. A parcel has at most one text.
    public var text: Attribute? { edits.first { $0.attribute.isText }?.attribute }
    public var textClock: Clock? { edits.first { $0.attribute.isText }?.clock }
    public var firstClock: Clock? { edits.compactMap(\.clock).min() }
    public var lastClock: Clock? { edits.compactMap(\.clock).max() }
}
