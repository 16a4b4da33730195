/// A note: text, whether it is archived, a date to sort by, its tags and attachments, and what apps made up.
public struct Note: Sendable, Equatable {
    public let uniqueID: UniqueID
    /// Nil while only later edits of it are known: such a note waits and is shown to nobody.
    public private(set) var creationDate: Timestamp?
    @Merged public var text = ""
    @Merged public var archived = false
    /// Nil means that the note sorts by its creation.
    @Merged public var sortDate: Timestamp?
    public private(set) var tags = Members()
    public private(set) var attachments = Members()
    public private(set) var attributes = CustomAttributes()

    public init(uniqueID: UniqueID) { self.uniqueID = uniqueID }

    mutating func fold(_ edit: Edit) -> Bool {
        guard let value = edit.value else { return false }
        switch (edit.attribute, value, edit.clock) {
        case (.creationDate, .date(let date), _):
            if let creationDate, creationDate <= date { return false }
            creationDate = date
            return true
        case (.text, .string(let text), let clock?): return $text.fold(text, at: clock)
        case (.archived, .bool(let archived), let clock?): return $archived.fold(archived, at: clock)
        case (.sortDate, .date(let date), let clock?): return $sortDate.fold(date, at: clock)
        case (.tag(let id), .bool(let isIn), let clock?): return tags.fold(id, isIn, at: clock)
        case (.attachment(let id), .bool(let isIn), let clock?): return attachments.fold(id, isIn, at: clock)
        case (.custom(let name), let value, let clock?): return attributes.fold(name, value, at: clock)
        default: return false
        }
    }

    func register(_ attribute: Attribute) -> Register<Value>? {
        switch attribute {
        case .text: $text.clock.map { Register(.string(text), at: $0) }
        case .archived: $archived.clock.map { Register(.bool(archived), at: $0) }
        case .sortDate:
            $sortDate.clock.flatMap { clock in sortDate.map { Register(.date($0), at: clock) } }
        case .tag(let id): tags[id].map { Register(.bool($0.value), at: $0.clock) }
        case .attachment(let id): attachments[id].map { Register(.bool($0.value), at: $0.clock) }
        case .custom(let name): attributes[name]
        default: nil
        }
    }

    /// Every register it has, in the order of their names.
    func forEachRegister(_ body: (Attribute, Clock) -> Void) {
        if let clock = $archived.clock { body(.archived, clock) }
        for (id, register) in attachments.sorted { body(.attachment(id), register.clock) }
        for (name, register) in attributes.sorted { body(.custom(name), register.clock) }
        if let clock = $sortDate.clock { body(.sortDate, clock) }
        for (id, register) in tags.sorted { body(.tag(id), register.clock) }
        if let clock = $text.clock { body(.text, clock) }
    }
}

extension Note {
    /// For clients that merge: members as their registers have them, and every clock (protocol.md, Two shapes).
    func writeState(to writer: inout JSONWriter) {
        writer.object { writer in
            writePlain(tags: tags.raw, attachments: attachments.raw, to: &writer)
            writer.name("clocks")
            writer.object { writer in
                if let clock = $text.clock { writer.member("text", clock) }
                if let clock = $archived.clock { writer.member("archived", clock) }
                if let clock = $sortDate.clock { writer.member("sortDate", clock) }
                writer.member("tags", clocksOf: tags)
                writer.member("attachments", clocksOf: attachments)
                attributes.writeClocks(to: &writer)
            }
        }
    }

    /// For readers that keep no clocks (protocol.md, Two shapes).
    /// - Parameters: the live members, as ``Members/resolved(_:)`` finds them.
    public func plain(tags: [UniqueID], attachments: [UniqueID]) -> [UInt8] {
        var writer = JSONWriter(capacity: text.utf8.count + 400)
        writer.object { writePlain(tags: tags, attachments: attachments, to: &$0) }
        return writer.bytes
    }

    private func writePlain(tags: [UniqueID], attachments: [UniqueID], to writer: inout JSONWriter) {
        writer.member("uniqueID", uniqueID)
        if let creationDate { writer.member("creationDate", creationDate) }
        writer.member("text", text)
        writer.member("archived", archived)
        if let date = sortDate ?? creationDate { writer.member("sortDate", date) }
        writer.member("tags", ids: tags)
        writer.member("attachments", ids: attachments)
        attributes.write(to: &writer)
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
