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
            let base = change.textBaseValue.map { Push.editBytes + $0.utf8.count } ?? 0
            return sum + change.edits.reduce(base) { $0 + Push.editBytes + ($1.value?.byteCount ?? 0) }
        }
    }

    /// The maximum number of bytes that the push stores. It is six times the estimate, because JSON may escape one byte as six
    /// bytes.
    var maximumStoredBytes: Int { 6 * byteCount }

    /// The estimated number of bytes that an edit takes in addition to its value. The actual number is at most six times as
    /// great.
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
    /// The clock of the text from which the pushed text descends. If a device resends the pushed text to a restored server, this
    /// is the clock of the pushed text itself (merge.md, Text).
    public var textBase: Clock?
    /// The text whose clock is ``textBase``, if the client sends it.
    public var textBaseValue: String?
    /// The clocks of other texts from which the pushed text descends: texts that the sender wrote and for which it has not
    /// received a receipt yet, in the order of writing. Nil if the client does not send this field.
    public var textAfter: [Clock]?
    /// Whether the pushed text replaces the current text even if the sender had not read the current text.
    public var replacesUnread = false
    /// The problems of the fields that were rejected while the push was read, by the field's name.
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
    /// The note with the rescued words that the server created when the device first sent this deletion. It is set only if the
    /// device resends the deletion to a restored server.
    public let rescuedInto: UniqueID?
    /// The date of the deletion; nil for the current time.
    public let deletionDate: Timestamp?
    /// The most recent text of the note that the deleting device had seen. Nil if the current text counts as seen (merge.md,
    /// Deleting).
    public let textSeen: TextSeen?
    /// The clocks of texts that the deleting device wrote for the note and for which it has not received a receipt yet.
    public let textAfter: [Clock]
    public let pointer: String

    /// The most recent text of a note that the deleting device had seen.
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
