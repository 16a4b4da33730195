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

    /// The approximate size of what is stored, in bytes: the values and an amount for each edit.
    public var byteCount: Int {
        elements.reduce(0) { sum, element in
            guard case .change(let change) = element else { return sum + Push.editBytes }
            let base = change.textBaseValue.map { Push.editBytes + $0.utf8.count } ?? 0
            return sum + change.edits.reduce(base) { $0 + Push.editBytes + ($1.value?.byteCount ?? 0) }
        }
    }

    /// An upper bound on what is stored, in bytes. JSON may escape one byte of a string as six.
    var maximumStoredBytes: Int { 6 * byteCount }

    /// An estimate of what an edit takes besides its value. The actual size is at most six times as much.
    private static let editBytes = 96

    /// The nodes of all clocks in the push.
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
        /// An element that could not be used at all.
        case rejected(Receipt)
    }
}

/// The changes of one object in a push.
public struct Change: Sendable, Equatable {
    public let uniqueID: UniqueID
    public let section: Section
    /// The JSON Pointer of the element in the request: `/changes/notes/0`.
    public let pointer: String
    public var edits: [Edit]
    /// The clock of the text that the pushed text descends from; its own clock, if the text is given back (merge.md, Text).
    public var textBase: Clock?
    /// The text at ``textBase``.
    public var textBaseValue: String?
    /// The clocks of the sender's own unanswered texts that the pushed text descends from, in the order of writing. Nil if the
    /// client does not send this field.
    public var textAfter: [Clock]?
    /// Whether the text replaces the current one although the sender had not read it.
    public var replacesUnread = false
    /// Fields that were rejected while reading, by name.
    public var rejected: [String: Problem]

    public init(
        uniqueID: UniqueID, section: Section, pointer: String = "", edits: [Edit], textBase: Clock? = nil,
        textBaseValue: String? = nil, textAfter: [Clock]? = nil, rejected: [String: Problem] = [:]
    ) {
        self.uniqueID = uniqueID
        self.section = section
        self.pointer = pointer
        self.edits = edits
        self.textBase = textBase
        self.textBaseValue = textBaseValue
        self.textAfter = textAfter
        self.rejected = rejected
    }
}

/// A deletion in a push.
public struct Deletion: Sendable, Equatable {
    public let uniqueID: UniqueID
    public let objectType: ObjectType
    public let mergedInto: UniqueID?
    /// The note that an earlier deletion rescued, if a device gives that deletion back.
    public let rescuedInto: UniqueID?
    /// Nil for the current time.
    public let deletionDate: Timestamp?
    /// The text of the note that the deleting device had seen. Nil if the current text counts as seen (merge.md, Deleting).
    public let textSeen: TextSeen?
    /// The clocks of the deleting device's own unanswered texts.
    public let textAfter: [Clock]
    public let pointer: String

    /// The text of a note that the deleting device had seen.
    public enum TextSeen: Sendable, Equatable {
        /// The note had no text.
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
