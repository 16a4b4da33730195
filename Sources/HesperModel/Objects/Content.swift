/// What is known of one object: its fields by the table ``Field``, the tags and attachments of a note, and what apps made up.
public struct Content: Sendable, Equatable {
    public let section: Section
    /// Those fields that were ever set, in the order of their names.
    private var entries: [Entry] = []
    public private(set) var tags = Members()
    public private(set) var attachments = Members()
    public private(set) var attributes = CustomAttributes()

    private struct Entry: Sendable, Equatable {
        let field: Field
        var value: Value
        /// Nil for what is set once.
        var clock: Clock?
    }

    init(of section: Section) { self.section = section }

    /// The value that a field was set to.
    public subscript(field: Field) -> Value? { entry(field)?.value }

    /// The value that a field has: what it was set to, or its default.
    public func value(_ field: Field) -> Value? { self[field] ?? standard(field) }

    /// The default of a field.
    public func standard(_ field: Field) -> Value? {
        switch field.standard {
        case .value(let value)?: value
        case .field(let other)?: self[other]
        case nil: nil
        }
    }

    /// The clock of a field; nil if it has none or was never set.
    public func clock(_ field: Field) -> Clock? { entry(field)?.clock }

    /// Whether the field is known that makes an object exist.
    var exists: Bool { self[section.requiredField] != nil }

    private func entry(_ field: Field) -> Entry? { entries.first { $0.field == field } }

    // MARK: The fold

    /// Takes an edit in.
    /// - Returns: whether anything changed.
    mutating func fold(_ edit: Edit) -> Bool {
        switch (edit.attribute, edit.value, edit.clock) {
        case (.field(let field), let value?, let clock):
            fold(field, value, at: clock)
        case (.tag(let id), .bool(let isIn)?, let clock?):
            section == .notes && tags.fold(id, isIn, at: clock)
        case (.attachment(let id), .bool(let isIn)?, let clock?):
            section == .notes && attachments.fold(id, isIn, at: clock)
        case (.custom(let name), let value?, let clock?):
            section != .attachments && attributes.fold(name, value, at: clock)
        // A value that was thinned away, or of the wrong kind.
        case (.field, _, _), (.tag, _, _), (.attachment, _, _), (.custom, _, _): false
        }
    }

    private mutating func fold(_ field: Field, _ value: Value, at clock: Clock?) -> Bool {
        let rule = field.rule
        guard field.section == section, field.kind == value.kind, (rule == .register) == (clock != nil) else {
            return false
        }
        guard let index = entries.firstIndex(where: { $0.field == field }) else {
            if entries.isEmpty { entries.reserveCapacity(4) }
            let place = entries.firstIndex { field.rawValue < $0.field.rawValue } ?? entries.endIndex
            entries.insert(Entry(field: field, value: value, clock: clock), at: place)
            return true
        }
        let standing = entries[index]
        let isTaken: Bool =
            switch rule {
            case .register: clock.flatMap { new in standing.clock.map { $0 < new } } ?? false
            case .once: false
            case .type, .earliest: value.isLess(than: standing.value)
            }
        if isTaken { entries[index] = Entry(field: field, value: value, clock: clock) }
        return isTaken
    }

    // MARK: Registers

    /// What stands of a mutable attribute; nil if it was never set.
    func register(_ attribute: Attribute) -> Register<Value>? {
        switch attribute {
        case .field(let field): entry(field).flatMap { entry in entry.clock.map { Register(entry.value, at: $0) } }
        case .tag(let id): tags[id].map { Register(.bool($0.value), at: $0.clock) }
        case .attachment(let id): attachments[id].map { Register(.bool($0.value), at: $0.clock) }
        case .custom(let name): attributes[name]
        }
    }

    /// Every register that was ever set, in the order of their names.
    func forEachRegister(_ body: (Attribute, Clock) -> Void) {
        for part in section.partsByName {
            switch part {
            case .field(let field): if let clock = clock(field) { body(.field(field), clock) }
            case .tags: for (id, register) in tags.sorted { body(.tag(id), register.clock) }
            case .attachments: for (id, register) in attachments.sorted { body(.attachment(id), register.clock) }
            case .attributes: for (name, register) in attributes.sorted { body(.custom(name), register.clock) }
            }
        }
    }

    // MARK: JSON

    /// With all clocks, for clients that merge: members as their registers have them (protocol.md, Two forms).
    func state(_ uniqueID: UniqueID) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.object { writer in
            write(uniqueID, tags: tags.raw, attachments: attachments.raw, to: &writer)
            // All fields of an attachment are set once.
            if section != .attachments {
                writer.name("clocks")
                writer.object { writeClocks(to: &$0) }
            }
        }
        return writer.bytes
    }

    /// For readers that keep no clocks.
    /// - Parameters: the tags and attachments to show for a note.
    func plain(_ uniqueID: UniqueID, tags: [UniqueID] = [], attachments: [UniqueID] = []) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.object { write(uniqueID, tags: tags, attachments: attachments, to: &$0) }
        return writer.bytes
    }

    private func write(
        _ uniqueID: UniqueID, tags: [UniqueID], attachments: [UniqueID], to writer: inout JSONWriter
    ) {
        writer.member("uniqueID", uniqueID)
        for part in section.parts {
            switch part {
            case .field(let field): if let value = value(field) { writer.member(part.name, value) }
            case .tags: writer.member(part.name, ids: tags)
            case .attachments: writer.member(part.name, ids: attachments)
            case .attributes: attributes.write(to: &writer)
            }
        }
    }

    private func writeClocks(to writer: inout JSONWriter) {
        for part in section.parts {
            switch part {
            case .field(let field): if let clock = clock(field) { writer.member(part.name, clock) }
            case .tags: writer.member(part.name, clocksOf: tags)
            case .attachments: writer.member(part.name, clocksOf: attachments)
            case .attributes: attributes.writeClocks(to: &writer)
            }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: String, ids: [UniqueID]) {
        self.name(name)
        array { writer in
            for id in ids { writer.id(id) }
        }
    }

    fileprivate mutating func member(_ name: String, clocksOf members: Members) {
        self.name(name)
        object { writer in
            for (id, register) in members.sorted { writer.member(id.description, register.clock) }
        }
    }
}
