/// What one call of sync uploads, read and checked (protocol.md, Sync).
public struct Push: Sendable, Equatable {
    public var elements: [Element]

    public init(_ elements: [Element] = []) { self.elements = elements }

    /// The objects that it says something of.
    public var ids: [UniqueID] {
        elements.compactMap { element in
            switch element {
            case .change(let change): change.uniqueID
            case .deletion(let deletion): deletion.uniqueID
            case .refused: nil
            }
        }
    }

    /// About how many bytes it writes: those of its values, and some for each edit.
    public var byteCount: Int {
        elements.reduce(0) { sum, element in
            guard case .change(let change) = element else { return sum + Push.editBytes }
            let base = change.textBaseValue.map { Push.editBytes + $0.utf8.count } ?? 0
            return sum + change.edits.reduce(base) { $0 + Push.editBytes + ($1.value?.byteCount ?? 0) }
        }
    }

    /// The most bytes that it can write: each byte of a string may take six in JSON.
    var greatestBytes: Int { 6 * byteCount }

    /// What an edit takes beside its value, its name and clock: no more than six times as much.
    private static let editBytes = 96

    /// The devices whose clocks stand in it, whoever pushes it.
    public var nodes: Set<NodeID> {
        var nodes: Set<NodeID> = []
        for case .change(let change) in elements {
            for edit in change.edits { if let clock = edit.clock { nodes.insert(clock.node) } }
            if let base = change.textBase { nodes.insert(base.node) }
        }
        return nodes
    }

    public enum Element: Sendable, Equatable {
        case change(Change)
        case deletion(Deletion)
        /// An element of which nothing could be used.
        case refused(Receipt)
    }
}

/// What a push says of one object.
public struct Change: Sendable, Equatable {
    public let uniqueID: UniqueID
    public let section: Section
    /// Where the element stands in the request: `/changes/notes/0`.
    public let pointer: String
    public var edits: [Edit]
    /// The clock of the text that the pushed text descends from; its own clock, if the text is given back (merge.md, Text).
    public var textBase: Clock?
    /// That text itself.
    public var textBaseValue: String?
    /// The clocks of the sender's own unanswered texts that the pushed text descends from, in the order of writing; nil from
    /// clients that do not know of it.
    public var textAfter: [Clock]?
    /// Whether the text replaces what stands without its sender having read that.
    public var replacesUnread = false
    /// Fields that were refused while reading, by name.
    public var refused: [String: Problem]

    public init(
        uniqueID: UniqueID, section: Section, pointer: String = "", edits: [Edit], textBase: Clock? = nil,
        textBaseValue: String? = nil, textAfter: [Clock]? = nil, refused: [String: Problem] = [:]
    ) {
        self.uniqueID = uniqueID
        self.section = section
        self.pointer = pointer
        self.edits = edits
        self.textBase = textBase
        self.textBaseValue = textBaseValue
        self.textAfter = textAfter
        self.refused = refused
    }
}

/// A DeletedObject that a push makes.
public struct Deletion: Sendable, Equatable {
    public let uniqueID: UniqueID
    public let objectType: ObjectType
    public let mergedInto: UniqueID?
    /// The note that was made of words which an earlier deletion had not seen, if a device gives that back.
    public let rescuedInto: UniqueID?
    /// Nil for now.
    public let deletionDate: Timestamp?
    /// Which text of the note its maker saw; nil if all that stands counts as seen (merge.md, Deleting).
    public let textSeen: TextSeen?
    /// The clocks of its maker's own unanswered texts.
    public let textAfter: [Clock]
    public let pointer: String

    /// A text as the maker of a deletion saw it.
    public enum TextSeen: Sendable, Equatable {
        /// The note had none.
        case none
        case version(Clock)
    }

    public init(
        uniqueID: UniqueID, objectType: ObjectType, mergedInto: UniqueID? = nil, rescuedInto: UniqueID? = nil,
        deletionDate: Timestamp? = nil, textSeen: TextSeen? = nil, textAfter: [Clock] = [], pointer: String = ""
    ) {
        self.rescuedInto = rescuedInto
        self.textSeen = textSeen
        self.textAfter = textAfter
        self.uniqueID = uniqueID
        self.objectType = objectType
        self.mergedInto = mergedInto
        self.deletionDate = deletionDate
        self.pointer = pointer
    }
}
