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
    /// The clock of the text that the pushed text started from (merge.md, Text).
    public var textBase: Clock?
    /// That text itself.
    public var textBaseValue: String?
    /// Fields that were refused while reading, by name.
    public var refused: [String: Problem]

    public init(
        uniqueID: UniqueID, section: Section, pointer: String = "", edits: [Edit], textBase: Clock? = nil,
        textBaseValue: String? = nil, refused: [String: Problem] = [:]
    ) {
        self.uniqueID = uniqueID
        self.section = section
        self.pointer = pointer
        self.edits = edits
        self.textBase = textBase
        self.textBaseValue = textBaseValue
        self.refused = refused
    }
}

/// A DeletedObject that a push makes.
public struct Deletion: Sendable, Equatable {
    public let uniqueID: UniqueID
    public let objectType: ObjectType
    public let mergedInto: UniqueID?
    /// Nil for now.
    public let deletionDate: Timestamp?
    public let pointer: String

    public init(
        uniqueID: UniqueID, objectType: ObjectType, mergedInto: UniqueID? = nil, deletionDate: Timestamp? = nil,
        pointer: String = ""
    ) {
        self.uniqueID = uniqueID
        self.objectType = objectType
        self.mergedInto = mergedInto
        self.deletionDate = deletionDate
        self.pointer = pointer
    }
}
