/// A folded object of any type: what the bag's edits of one ID come to (merge.md, The fold).
public enum Entity: Sendable, Equatable {
    case note(Note)
    case tag(Tag)
    case attachment(Attachment)
    case object(AppObject)

    public var uniqueID: UniqueID {
        switch self {
        case .note(let note): note.uniqueID
        case .tag(let tag): tag.uniqueID
        case .attachment(let attachment): attachment.uniqueID
        case .object(let object): object.uniqueID
        }
    }

    /// All that is known of it.
    public var content: Content {
        switch self {
        case .note(let note): note.content
        case .tag(let tag): tag.content
        case .attachment(let attachment): attachment.content
        case .object(let object): object.content
        }
    }

    public var section: Section {
        switch self {
        case .note: .notes
        case .tag: .tags
        case .attachment: .attachments
        case .object: .objects
        }
    }

    /// Nil for an app's object whose type is not known yet.
    public var objectType: ObjectType? {
        if case .object(let object) = self { object.objectType } else { section.objectType }
    }

    /// Whether what makes it exist is known; until then its edits wait, neither sent nor counted.
    public var exists: Bool { content.exists }

    /// Takes an edit in: the greatest clock of each attribute stands. Any order of edits comes to the same.
    /// - Returns: whether anything changed.
    @discardableResult
    public mutating func fold(_ edit: Edit) -> Bool {
        // What is taken out of `self` is put in its place again, so that it has one owner and is changed where it is.
        let placeholder = Entity.attachment(Attachment(uniqueID: uniqueID))
        switch self {
        case .note(var note):
            self = placeholder
            defer { self = .note(note) }
            return note.content.fold(edit)
        case .tag(var tag):
            self = placeholder
            defer { self = .tag(tag) }
            return tag.content.fold(edit)
        case .attachment(var attachment):
            self = placeholder
            defer { self = .attachment(attachment) }
            return attachment.content.fold(edit)
        case .object(var object):
            self = placeholder
            defer { self = .object(object) }
            return object.content.fold(edit)
        }
    }

    /// What stands of a mutable attribute; nil if it was never set.
    public func register(_ attribute: Attribute) -> Register<Value>? { content.register(attribute) }

    /// Every mutable attribute that was ever set and its clock, in the order of their names.
    public func forEachRegister(_ body: (Attribute, Clock) -> Void) { content.forEachRegister(body) }

    /// The greatest clock of its registers.
    public var lastClock: Clock? {
        var last: Clock?
        forEachRegister { _, clock in last = max(last ?? clock, clock) }
        return last
    }

    /// Its JSON exactly as sync, changes, feeds and events send it.
    public var body: [UInt8] { content.state(uniqueID) }

    /// Its share of the scope's digest (merge.md, The digest); zero while it waits.
    public var digest: Digest {
        guard exists, let objectType else { return .zero }
        var lines: [UInt8] = []
        lines.reserveCapacity(384)
        let newline = UInt8(ascii: "\n")
        lines.append(contentsOf: objectType.name.utf8)
        lines.append(newline)
        uniqueID.append(to: &lines)
        lines.append(newline)
        forEachRegister { attribute, clock in
            lines.append(contentsOf: attribute.description.utf8)
            lines.append(UInt8(ascii: "="))
            clock.append(to: &lines)
            lines.append(newline)
        }
        if case .note(let note) = self, let date = note.creationDate {
            lines.append(contentsOf: "creationDate=".utf8)
            date.append(to: &lines)
            lines.append(newline)
        }
        if case .attachment(let attachment) = self, case .string(let hash)? = attachment[.sha256] {
            lines.append(contentsOf: "sha256=\(hash)\n".utf8)
        }
        return Digest(of: lines)
    }
}
