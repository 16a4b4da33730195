/// An object of any type: the result of folding its edits (merge.md, The fold).
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

    /// The object's attributes.
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

    /// The object's type. Nil for an app's object whose type is not known yet.
    public var objectType: ObjectType? {
        if case .object(let object) = self { object.objectType } else { section.objectType }
    }

    /// Whether the field that the object's section requires is set. Until then the edits are stored, but the object is neither
    /// sent nor counted.
    public var exists: Bool { content.exists }

    /// Applies an edit: for each attribute, the value with the greatest clock wins. The order of edits does not matter.
    /// - Returns: whether anything changed.
    @discardableResult
    public mutating func fold(_ edit: Edit) -> Bool {
        // The placeholder in `self` ensures that the value has a single owner, so that it is changed in place and not copied.
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

    /// The register of an attribute; nil if it was never set.
    public func register(_ attribute: Attribute) -> Register<Value>? { content.register(attribute) }

    /// Calls `body` for every register that was set, sorted by name.
    public func forEachRegister(_ body: (Attribute, Clock) -> Void) { content.forEachRegister(body) }

    /// The greatest clock of the object's registers; nil if none was set.
    public var lastClock: Clock? {
        var last: Clock?
        forEachRegister { _, clock in last = max(last ?? clock, clock) }
        return last
    }

    /// The object's JSON with clocks, in exactly the form in which clients receive it.
    public var body: [UInt8] { content.state(uniqueID) }

    /// The object's digest, which is part of the scope's digest (merge.md, The digest). It is zero as long as the object does
    /// not exist.
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
