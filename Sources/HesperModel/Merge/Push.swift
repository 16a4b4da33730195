/// The changes that one sync request uploads, parsed and validated (protocol.md, Sync).
public struct Push: Sendable, Equatable {
    public var elements: [Element]

    public init(_ elements: [Element] = []) { self.elements = elements }

    /// The IDs of the objects in the push.
    public var ids: [UniqueID] {
        elements.compactMap { element in
            switch element {
            case .change(let change): change.uniqueID
            case .deletion(let deletion): deletion.uniqueID
            case .rejected: nil
            }
        }
    }

    /// The approximate number of bytes that the push stores: the sizes of the values, and a fixed amount for each edit.
    public var byteCount: Int {
        elements.reduce(0) { sum, element in
            guard case .change(let change) = element else { return sum + Push.editBytes }
            let bases = change.ancestries.values.reduce(0) { sum, ancestry in
                sum + (ancestry.baseValue.map { Push.editBytes + $0.utf8.count } ?? 0)
            }
            return sum + change.edits.reduce(bases) { $0 + Push.editBytes + ($1.value?.byteCount ?? 0) }
        }
    }

    /// The maximum number of bytes that the push stores. It is six times ``byteCount``, because JSON may escape one byte as six
    /// bytes.
    var maximumStoredBytes: Int { 6 * byteCount }

    /// The estimated number of bytes that an edit takes in addition to its value. The actual number is at most six times as
    /// great.
    private static let editBytes = 96

    /// The nodes of the clocks of all edits and text bases in the push.
    public var nodes: Set<NodeID> {
        var nodes: Set<NodeID> = []
        for case .change(let change) in elements {
            for edit in change.edits { if let clock = edit.clock { nodes.insert(clock.node) } }
            for case let base? in change.ancestries.values.map(\.base) { nodes.insert(base.node) }
        }
        return nodes
    }

    public enum Element: Sendable, Equatable {
        case change(Change)
        case deletion(Deletion)
        /// An element that was rejected as a whole.
        case rejected(Receipt)
    }
}

/// The changes to one object in a push.
public struct Change: Sendable, Equatable {
    public let uniqueID: UniqueID
    public let section: Section
    /// The JSON Pointer of the element in the request, for example `/changes/notes/0`.
    public let pointer: String
    public var edits: [Edit]
    /// For each pushed text, the texts from which it descends. If a text has no entry, the sender stated no ancestors of it.
    public var ancestries: [Attribute: TextAncestry]
    /// Whether each pushed text replaces the current text even if the sender had not read the current text.
    public var replacesUnread = false
    /// The problems of the fields that were rejected while the push was read, by the field's name.
    public var rejected: [String: Problem]

    public init(
        uniqueID: UniqueID, section: Section, pointer: String = "", edits: [Edit],
        ancestries: [Attribute: TextAncestry] = [:], rejected: [String: Problem] = [:]
    ) {
        self.uniqueID = uniqueID
        self.section = section
        self.pointer = pointer
        self.edits = edits
        self.ancestries = ancestries
        self.rejected = rejected
    }

    /// Creates a change of a note with the ancestry of its text.
    public init(
        uniqueID: UniqueID, section: Section, pointer: String = "", edits: [Edit], textBase: Clock?,
        textBaseValue: String? = nil, textAfter: [Clock]? = nil
    ) {
        let ancestry = TextAncestry(base: textBase, baseValue: textBaseValue, after: textAfter)
        self.init(
            uniqueID: uniqueID, section: section, pointer: pointer, edits: edits,
            ancestries: ancestry == TextAncestry() ? [:] : [.text: ancestry])
    }
}

/// A deletion in a push.
public struct Deletion: Sendable, Equatable {
    public let uniqueID: UniqueID
    public let objectType: ObjectType
    public let mergedInto: UniqueID?
    /// The object with the rescued words that the server created when the device first sent this deletion. It is set only if the
    /// device resends the deletion to a restored server.
    public let rescuedInto: UniqueID?
    /// The date of the deletion; nil for the current time.
    public let deletionDate: Timestamp?
    /// The clocks of the most recent texts that the deleting device had seen, by attribute. A text that is not in the dictionary
    /// did not exist for the device. Nil if everything counts as seen (merge.md, Deleting).
    public let seenTexts: [Attribute: Clock]?
    /// For each text, the clocks of versions that the deleting device wrote and for which it has not received a receipt yet.
    public let textsAfter: [Attribute: [Clock]]
    public let pointer: String

    public init(
        uniqueID: UniqueID, objectType: ObjectType, mergedInto: UniqueID? = nil, rescuedInto: UniqueID? = nil,
        deletionDate: Timestamp? = nil, seenTexts: [Attribute: Clock]? = nil, textsAfter: [Attribute: [Clock]] = [:],
        pointer: String = ""
    ) {
        self.rescuedInto = rescuedInto
        self.seenTexts = seenTexts
        self.textsAfter = textsAfter
        self.uniqueID = uniqueID
        self.objectType = objectType
        self.mergedInto = mergedInto
        self.deletionDate = deletionDate
        self.pointer = pointer
    }
}
