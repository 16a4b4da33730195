/// Reads one element of a push field by field: what is wrong is refused by itself, the rest stands (protocol.md, Sync).
struct ElementReader {
    let object: JSONObject
    let pointer: String
    private(set) var edits: [Edit] = []
    private(set) var refused: [String: Problem] = [:]
    private let clocks: JSONObject
    /// Names of fields that were asked for, and of those among them that have clocks: all others are unknown.
    /// Lists, as there are few: to look through them costs less than to hash.
    private var read = ["uniqueID", "clocks"]
    private var clocked: [String] = []

    init(_ object: JSONObject, at pointer: String) {
        self.object = object
        self.pointer = pointer
        switch object["clocks"] {
        case .object(let clocks)?: self.clocks = clocks
        case nil: clocks = JSONObject()
        case let other?:
            clocks = JSONObject()
            refuse("clocks", .invalidField, "clocks is an object, not \(other.kind)")
        }
    }

    mutating func refuse(
        _ field: String, _ slug: Problem.Slug, _ what: String, at place: String? = nil, limit: Int? = nil
    ) {
        let context: [String: JSON] = limit.map { ["limit": .integer(Int64($0))] } ?? [:]
        refused[field] = Problem(
            slug, what + ".", at: pointer + (place ?? "/\(JSONPointer.escape(field))"), context: context)
    }

    /// Takes the value of a field, if it is there and `convert` can make something of it.
    mutating func value(_ field: String, _ convert: (JSON) -> Result<Value, FieldError>) -> Value? {
        read.append(field)
        guard let json = object[field] else { return nil }
        switch convert(json) {
        case .success(let value): return value
        case .failure(let error):
            refuse(field, .invalidField, "\(field) \(error.requirement)", limit: error.limit)
            return nil
        }
    }

    /// Reads a part of an object: its edits, or why they are refused.
    mutating func read(_ part: Section.Part) {
        switch part {
        case .field(let field) where field.rule == .register: register(field)
        case .field(let field):
            if let value = value(field.rawValue, field.read) { edits.append(Edit(.field(field), value, at: nil)) }
        case .tags: members(part.name) { .tag($0) }
        case .attachments: members(part.name) { .attachment($0) }
        case .attributes: customAttributes()
        }
    }

    /// A field with a clock of its own.
    private mutating func register(_ field: Field) {
        let name = field.rawValue
        clocked.append(name)
        guard let value = value(name, field.read) else {
            if object[name] == nil, clocks[name] != nil {
                refuse(name, .invalidField, "clocks has \(name), but \(name) itself is missing")
            }
            return
        }
        guard let clock = clock(clocks[name], of: name, at: "/clocks/\(name)") else { return }
        edits.append(Edit(.field(field), value, at: clock))
    }

    private mutating func clock(_ json: JSON?, of field: String, at place: String) -> Clock? {
        switch json {
        case nil: refuse(field, .clockMissing, "\(field) has no clock", at: place)
        case .string(let text)?:
            if let clock = Clock(text) { return clock }
            refuse(field, .invalidField, "a clock looks like 2026-11-21T08:47:12.345Z-0003-9f86d081884c7d65", at: place)
        case let other?: refuse(field, .invalidField, "a clock is a string, not \(other.kind)", at: place)
        }
        return nil
    }

    private mutating func clockMap(_ field: String) -> [(String, JSON)] {
        switch clocks[field] {
        case nil: return []
        case .object(let map)?: return map.members.map { ($0.name, $0.value) }
        case let other?:
            refuse(field, .invalidField, "clocks.\(field) is an object, not \(other.kind)", at: "/clocks/\(field)")
            return []
        }
    }

    /// `tags` or `attachments`: every member with a clock in the push is in if the list names it, else out.
    private mutating func members(_ field: String, _ attribute: (UniqueID) -> Attribute) {
        read.append(field)
        clocked.append(field)
        var named: [UniqueID: Int] = [:]
        switch object[field] {
        case nil: break
        case .array(let elements)?:
            for (index, element) in elements.enumerated() {
                // A list that cannot be read says of no member that it is out: all of it is refused.
                guard case .string(let text) = element, let id = UniqueID(text) else {
                    refuse(field, .invalidField, "a member of \(field) is the ID of one", at: "/\(field)/\(index)")
                    return
                }
                named[id] = index
            }
        case let other?:
            refuse(field, .invalidField, "\(field) is an array, not \(other.kind)")
            return
        }
        guard named.count <= Limits.members else {
            refuse(field, .invalidField, "\(field) has more than \(Limits.members) members", limit: Limits.members)
            return
        }
        var stamped: Set<UniqueID> = []
        for (text, json) in clockMap(field) {
            let place = "/clocks/\(field)/\(JSONPointer.escape(text))"
            guard let id = UniqueID(text), stamped.insert(id).inserted else {
                refuse("\(field).\(text)", .invalidField, "clocks.\(field) names each member's ID once", at: place)
                continue
            }
            let name = attribute(id).description
            guard let clock = clock(json, of: name, at: place) else { continue }
            edits.append(Edit(attribute(id), .bool(named[id] != nil), at: clock))
        }
        for (id, index) in named where !stamped.contains(id) {
            refuse(attribute(id).description, .clockMissing, "\(id) has no clock", at: "/\(field)/\(index)")
        }
    }

    /// `attributes`: what apps made up.
    private mutating func customAttributes() {
        read.append("attributes")
        clocked.append("attributes")
        var values: [String: Value] = [:]
        switch object["attributes"] {
        case nil: break
        case .object(let map)?:
            for member in map.members {
                switch FieldValue.custom(named: member.name, member.value) {
                case .success(let value): values[member.name] = value
                case .failure(let error):
                    refuse(
                        "attributes.\(member.name)", .invalidField, error.requirement,
                        at: "/attributes/\(JSONPointer.escape(member.name))", limit: error.limit)
                }
            }
        case let other?: refuse("attributes", .invalidField, "attributes is an object, not \(other.kind)")
        }
        var stamped: Set<String> = []
        for (name, json) in clockMap("attributes") {
            stamped.insert(name)
            let field = "attributes.\(name)"
            let place = "/clocks/attributes/\(JSONPointer.escape(name))"
            guard let value = values[name] else {
                if refused[field] == nil {
                    refuse(field, .invalidField, "clocks has attributes.\(name), but its value is missing", at: place)
                }
                continue
            }
            guard let clock = clock(json, of: field, at: place) else { continue }
            edits.append(Edit(.custom(name), value, at: clock))
        }
        for name in values.keys where !stamped.contains(name) {
            refuse(
                "attributes.\(name)", .clockMissing, "attributes.\(name) has no clock",
                at: "/attributes/\(JSONPointer.escape(name))")
        }
    }

    /// Refuses a field that was read, because another that it depends on was refused.
    mutating func drop(_ attribute: Attribute, _ what: String) {
        guard edits.contains(where: { $0.attribute == attribute }) else { return }
        edits.removeAll { $0.attribute == attribute }
        refuse(attribute.description, .invalidField, what)
    }

    /// A clock that stands beside a field.
    mutating func plainClock(_ field: String) -> Clock? {
        read.append(field)
        guard let json = object[field] else { return nil }
        if case .string(let text) = json, let clock = Clock(text) { return clock }
        refuse(field, .invalidField, "\(field) is a clock as the server sent it")
        return nil
    }

    /// A list of clocks that stands beside a field.
    mutating func plainClocks(_ field: String, limit: Int) -> [Clock]? {
        read.append(field)
        guard let json = object[field] else { return nil }
        guard case .array(let elements) = json, elements.count <= limit else {
            refuse(field, .invalidField, "\(field) must be an array of at most \(limit) clocks", limit: limit)
            return nil
        }
        var clocks: [Clock] = []
        for (index, element) in elements.enumerated() {
            guard case .string(let text) = element, let clock = Clock(text) else {
                refuse(field, .invalidField, "\(field) must contain only clocks", at: "/\(field)/\(index)")
                return nil
            }
            clocks.append(clock)
        }
        return clocks
    }

    /// Refuses what nobody asked for. Call it last.
    mutating func refuseUnknown() {
        for member in object.members where !read.contains(member.name) {
            refuse(
                member.name, .unknownField,
                "\(member.name.prefix(64)) is not known here; what an app makes up goes under attributes")
        }
        for member in clocks.members where !clocked.contains(member.name) {
            refuse(
                "clocks.\(member.name)", .unknownField, "\(member.name.prefix(64)) has no clock here",
                at: "/clocks/\(JSONPointer.escape(member.name))")
        }
    }
}

/// JSON Pointers (RFC 6901).
public enum JSONPointer {
    /// A name as one step of a pointer.
    public static func escape(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return name }
        return name.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
    }
}
