/// Reads one element of a push, field by field. An invalid field is rejected and does not affect the other fields (protocol.md,
/// Sync).
struct ElementReader {
    let object: JSONObject
    let pointer: String
    private(set) var edits: [Edit] = []
    private(set) var rejected: [String: Problem] = [:]
    private let clocks: JSONObject
    /// The names of the fields that were read. All other members of the element are rejected as unknown. The names are in an
    /// array, because searching a few names is faster than hashing them.
    private var read = ["uniqueID", "clocks"]
    /// The names of the fields that were read and that have clocks.
    private var clocked: [String] = []

    init(_ object: JSONObject, at pointer: String) {
        self.object = object
        self.pointer = pointer
        switch object["clocks"] {
        case .object(let clocks)?: self.clocks = clocks
        case nil: clocks = JSONObject()
        case let other?:
            clocks = JSONObject()
            reject("clocks", .invalidField, "clocks must be an object, not \(other.kind)")
        }
    }

    mutating func reject(
        _ field: String, _ slug: Problem.Slug, _ detail: String, at path: String? = nil, limit: Int? = nil
    ) {
        let context: [String: JSON] = limit.map { ["limit": .integer(Int64($0))] } ?? [:]
        rejected[field] = Problem(
            slug, detail + ".", at: pointer + (path ?? "/\(JSONPointer.escape(field))"), context: context)
    }

    /// Reads and validates the value of a field. Returns nil if the field is absent or its value is rejected.
    mutating func value(_ field: String, _ convert: (JSON) -> Result<Value, FieldError>) -> Value? {
        read.append(field)
        guard let json = object[field] else { return nil }
        switch convert(json) {
        case .success(let value): return value
        case .failure(let error):
            reject(field, .invalidField, "\(field) \(error.requirement)", limit: error.limit)
            return nil
        }
    }

    /// Reads one part of an object. Adds an edit for each valid value, and a problem for each value that is rejected.
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

    /// Reads a field that has a clock of its own.
    private mutating func register(_ field: Field) {
        let name = field.rawValue
        clocked.append(name)
        guard let value = value(name, field.read) else {
            if object[name] == nil, clocks[name] != nil {
                reject(name, .invalidField, "clocks contains \(name), but the element has no \(name)")
            }
            return
        }
        guard let clock = clock(clocks[name], of: name, at: "/clocks/\(name)") else { return }
        edits.append(Edit(.field(field), value, at: clock))
    }

    private mutating func clock(_ json: JSON?, of field: String, at path: String) -> Clock? {
        switch json {
        case nil: reject(field, .clockMissing, "\(field) must have a clock in clocks", at: path)
        case .string(let text)?:
            if let clock = Clock(text) { return clock }
            reject(
                field, .invalidField,
                "the clock of \(field) must have the form 2026-11-21T08:47:12.345Z-0003-9f86d081884c7d65", at: path)
        case let other?:
            reject(field, .invalidField, "the clock of \(field) must be a string, not \(other.kind)", at: path)
        }
        return nil
    }

    private mutating func clockMap(_ field: String) -> [(String, JSON)] {
        switch clocks[field] {
        case nil: return []
        case .object(let map)?: return map.members.map { ($0.name, $0.value) }
        case let other?:
            reject(field, .invalidField, "clocks.\(field) must be an object, not \(other.kind)", at: "/clocks/\(field)")
            return []
        }
    }

    /// Reads `tags` or `attachments`. For each member that has a clock, adds an edit: true if the array contains the member,
    /// false otherwise. An invalid member is rejected without affecting the other members.
    private mutating func members(_ field: String, _ attribute: (UniqueID) -> Attribute) {
        read.append(field)
        clocked.append(field)
        var listed: [UniqueID: Int] = [:]
        switch object[field] {
        case nil: break
        case .array(let elements)?:
            for (index, element) in elements.enumerated() {
                let path = "/\(field)/\(index)"
                guard case .string(let text) = element else {
                    // An array entry that is not a string could stand for any of the members that have a clock. So it is unknown
                    // which members the array omits, and the whole field is rejected.
                    reject(field, .invalidField, "\(field) must contain only UUIDs", at: path)
                    return
                }
                if let id = UniqueID(text) {
                    listed[id] = index
                } else {
                    rejectMember(text, of: field, "\(field) must contain only UUIDs", at: path)
                }
            }
        case let other?:
            reject(field, .invalidField, "\(field) must be an array, not \(other.kind)")
            return
        }
        guard listed.count <= Limits.members else {
            reject(field, .invalidField, "\(field) must have at most \(Limits.members) members", limit: Limits.members)
            return
        }
        var stamped: Set<UniqueID> = []
        for (text, json) in clockMap(field) {
            let path = "/clocks/\(field)/\(JSONPointer.escape(text))"
            guard let id = UniqueID(text), stamped.insert(id).inserted else {
                rejectMember(text, of: field, "clocks.\(field) must name each member once, by its UUID", at: path)
                continue
            }
            let name = attribute(id).description
            guard let clock = clock(json, of: name, at: path) else { continue }
            edits.append(Edit(attribute(id), .bool(listed[id] != nil), at: clock))
        }
        for (id, index) in listed where !stamped.contains(id) {
            reject(
                attribute(id).description, .clockMissing, "\(id) must have a clock in clocks.\(field)",
                at: "/\(field)/\(index)")
        }
    }

    /// Rejects a member whose name is invalid. The problem is stored under the first ``Limits/nameLength`` characters of that
    /// name. If the same name is invalid in several places, only the first problem is stored.
    private mutating func rejectMember(_ name: String, of field: String, _ what: String, at path: String) {
        let key = "\(field).\(String(String.UnicodeScalarView(name.unicodeScalars.prefix(Limits.nameLength))))"
        if rejected[key] == nil { reject(key, .invalidField, what, at: path) }
    }

    /// Reads `attributes`, the attributes that apps define.
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
                    reject(
                        "attributes.\(member.name)", .invalidField,
                        "attributes.\(member.name.prefix(64)) \(error.requirement)",
                        at: "/attributes/\(JSONPointer.escape(member.name))", limit: error.limit)
                }
            }
        case let other?: reject("attributes", .invalidField, "attributes must be an object, not \(other.kind)")
        }
        var stamped: Set<String> = []
        for (name, json) in clockMap("attributes") {
            stamped.insert(name)
            let field = "attributes.\(name)"
            let path = "/clocks/attributes/\(JSONPointer.escape(name))"
            guard let value = values[name] else {
                if rejected[field] == nil {
                    reject(
                        field, .invalidField, "clocks contains attributes.\(name), but attributes has no \(name)",
                        at: path)
                }
                continue
            }
            guard let clock = clock(json, of: field, at: path) else { continue }
            edits.append(Edit(.custom(name), value, at: clock))
        }
        for name in values.keys where !stamped.contains(name) {
            reject(
                "attributes.\(name)", .clockMissing, "attributes.\(name) must have a clock in clocks.attributes",
                at: "/attributes/\(JSONPointer.escape(name))")
        }
    }

    /// Rejects a field that was already read, because another field that it depends on was rejected.
    mutating func drop(_ attribute: Attribute, _ detail: String) {
        guard edits.contains(where: { $0.attribute == attribute }) else { return }
        edits.removeAll { $0.attribute == attribute }
        reject(attribute.description, .invalidField, detail)
    }

    /// Reads a field of the element whose value is a clock, such as `textBase`.
    mutating func plainClock(_ field: String) -> Clock? {
        read.append(field)
        guard let json = object[field] else { return nil }
        if case .string(let text) = json, let clock = Clock(text) { return clock }
        reject(field, .invalidField, "\(field) must be a clock")
        return nil
    }

    /// Reads a field of the element whose value is an array of clocks, such as `textAfter`.
    mutating func plainClocks(_ field: String, limit: Int) -> [Clock]? {
        read.append(field)
        guard let json = object[field] else { return nil }
        guard case .array(let elements) = json, elements.count <= limit else {
            reject(field, .invalidField, "\(field) must be an array of at most \(limit) clocks", limit: limit)
            return nil
        }
        var clocks: [Clock] = []
        for (index, element) in elements.enumerated() {
            guard case .string(let text) = element, let clock = Clock(text) else {
                reject(field, .invalidField, "\(field) must contain only clocks", at: "/\(field)/\(index)")
                return nil
            }
            clocks.append(clock)
        }
        return clocks
    }

    /// Rejects all members of the element that were not read. Must be called after all known fields were read.
    mutating func rejectUnknown() {
        for member in object.members where !read.contains(member.name) {
            reject(
                member.name, .unknownField,
                "\(member.name.prefix(64)) is not a field of this object. Attributes of your app must be under attributes"
            )
        }
        for member in clocks.members where !clocked.contains(member.name) {
            reject(
                "clocks.\(member.name)", .unknownField, "\(member.name.prefix(64)) is not a field with a clock",
                at: "/clocks/\(JSONPointer.escape(member.name))")
        }
    }
}

/// JSON Pointers (RFC 6901).
public enum JSONPointer {
    /// Escapes a member name for use as one reference token of a pointer.
    public static func escape(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return name }
        return name.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
    }
}
