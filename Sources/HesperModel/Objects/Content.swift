/// The attributes of one object: its fields (see ``Field``), the tags and attachments of a note, the attributes that apps define,
/// and the texts and files of an app's own object.
public struct Content: Sendable, Equatable {
    public let section: Section
    /// The fields that were set, sorted by name.
    private var entries: [Entry] = []
    public private(set) var tags = Members()
    public private(set) var attachments = Members()
    public private(set) var attributes = NamedRegisters()
    public private(set) var texts = NamedRegisters()
    public private(set) var files = NamedRegisters()

    private struct Entry: Sendable, Equatable {
        let field: Field
        var value: Value
        /// The clock at which the value was set. Nil for fields that are set once.
        var clock: Clock?
    }

    init(of section: Section) { self.section = section }

    /// The value of a field; nil if it was never set.
    public subscript(field: Field) -> Value? { entry(field)?.value }

    /// The value of a field, or its default if it was never set.
    public func value(_ field: Field) -> Value? { self[field] ?? defaultValue(of: field) }

    /// The default of a field, computed from this object's other fields if necessary.
    public func defaultValue(of field: Field) -> Value? {
        switch field.defaultValue {
        case .value(let value)?: value
        case .field(let other)?: self[other]
        case nil: nil
        }
    }

    /// The clock of a field; nil if the field has no clock or was never set.
    public func clock(_ field: Field) -> Clock? { entry(field)?.clock }

    /// Whether the object exists, that is, whether the required field of its section is set.
    var exists: Bool { self[section.requiredField] != nil }

    private func entry(_ field: Field) -> Entry? { entries.first { $0.field == field } }

    // MARK: The fold

    /// Applies an edit.
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
        case (.namedText(let name), let value?, let clock?):
            section == .objects && value.kind == .string && texts.fold(name, value, at: clock)
        case (.file(let name), let value?, let clock?):
            section == .objects && (value == .null || edit.attribute.heldAttachment(value) != nil)
                && files.fold(name, value, at: clock)
        // The value was thinned away or has the wrong type: the edit changes nothing.
        case (.field, _, _), (.tag, _, _), (.attachment, _, _), (.custom, _, _), (.namedText, _, _), (.file, _, _):
            false
        }
    }

    private mutating func fold(_ field: Field, _ value: Value, at clock: Clock?) -> Bool {
        let rule = field.rule
        guard field.section == section, field.kind == value.kind, (rule == .register) == (clock != nil) else {
            return false
        }
        guard let index = entries.firstIndex(where: { $0.field == field }) else {
            if entries.isEmpty { entries.reserveCapacity(4) }
            let position = entries.firstIndex { field.rawValue < $0.field.rawValue } ?? entries.endIndex
            entries.insert(Entry(field: field, value: value, clock: clock), at: position)
            return true
        }
        let current = entries[index]
        let isApplied: Bool =
            switch rule {
            case .register: clock.flatMap { new in current.clock.map { $0 < new } } ?? false
            case .once: false
            case .type, .earliest: value.isLess(than: current.value)
            }
        if isApplied { entries[index] = Entry(field: field, value: value, clock: clock) }
        return isApplied
    }

    // MARK: Registers

    /// The register of an attribute; nil if it was never set.
    func register(_ attribute: Attribute) -> Register<Value>? {
        switch attribute {
        case .field(let field): entry(field).flatMap { entry in entry.clock.map { Register(entry.value, at: $0) } }
        case .tag(let id): tags[id].map { Register(.bool($0.value), at: $0.clock) }
        case .attachment(let id): attachments[id].map { Register(.bool($0.value), at: $0.clock) }
        case .custom(let name): attributes[name]
        case .namedText(let name): texts[name]
        case .file(let name): files[name]
        }
    }

    /// Calls `body` for every register that was set, sorted by name.
    func forEachRegister(_ body: (Attribute, Clock) -> Void) {
        for part in section.partsByName {
            switch part {
            case .field(let field): if let clock = clock(field) { body(.field(field), clock) }
            case .tags: for (id, register) in tags.sorted { body(.tag(id), register.clock) }
            case .attachments: for (id, register) in attachments.sorted { body(.attachment(id), register.clock) }
            case .attributes: for (name, register) in attributes.sorted { body(.custom(name), register.clock) }
            case .texts: for (name, register) in texts.sorted { body(.namedText(name), register.clock) }
            case .files: for (name, register) in files.sorted { body(.file(name), register.clock) }
            }
        }
    }

    // MARK: JSON

    /// The object's JSON with all clocks, for clients that merge. Tags and attachments are listed as they were set, even if
    /// they were merged or deleted later (protocol.md, Two forms).
    func state(_ uniqueID: UniqueID) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.object { writer in
            write(uniqueID, tags: tags.raw, attachments: attachments.raw, to: &writer)
            // The fields of an attachment have no clocks.
            if section != .attachments {
                writer.name("clocks")
                writer.object { writeClocks(to: &$0) }
            }
        }
        return writer.bytes
    }

    /// The object's JSON without clocks.
    /// - Parameters:
    ///   - tags: the tags to list, if the object is a note.
    ///   - attachments: the attachments to list, if the object is a note.
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
            case .attributes: writer.member(part.name, valuesOf: attributes)
            // An empty `texts` or `files` is omitted, so that the JSON is the same as in earlier versions of the server.
            case .texts: if texts.count > 0 { writer.member(part.name, valuesOf: texts) }
            case .files: if files.count > 0 { writer.member(part.name, valuesOf: files) }
            }
        }
    }

    private func writeClocks(to writer: inout JSONWriter) {
        for part in section.parts {
            switch part {
            case .field(let field): if let clock = clock(field) { writer.member(part.name, clock) }
            case .tags: writer.member(part.name, clocksOf: tags)
            case .attachments: writer.member(part.name, clocksOf: attachments)
            case .attributes: writer.member(part.name, clocksOf: attributes)
            case .texts: if texts.count > 0 { writer.member(part.name, clocksOf: texts) }
            case .files: if files.count > 0 { writer.member(part.name, clocksOf: files) }
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
