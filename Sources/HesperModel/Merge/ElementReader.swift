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
        case .attributes: named(part.name, FieldValue.custom) { .custom($0) }
        case .texts: named(part.name, FieldValue.text) { .namedText($0) }
        case .files: named(part.name, FieldValue.file) { .file($0) }
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
                    // A member that has a clock but is missing in the array is removed. An array entry that is not a string may
                    // stand for such a member. It is unknown for which one, so the whole field is rejected.
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

    /// Reads `attributes`, `texts` or `files`: an object whose members have names that an app chose.
    private mutating func named(
        _ part: String, _ convert: (String, JSON) -> FieldValue.Outcome, _ attribute: (String) -> Attribute
    ) {
        read.append(part)
        clocked.append(part)
        var values: [String: Value] = [:]
        switch object[part] {
        case nil: break
        case .object(let map)?:
            for member in map.members {
                switch convert(member.name, member.value) {
                case .success(let value): values[member.name] = value
                case .failure(let error):
                    reject(
                        "\(part).\(member.name)", .invalidField,
                        "\(part).\(member.name.prefix(64)) \(error.requirement)",
                        at: "/\(part)/\(JSONPointer.escape(member.name))", limit: error.limit)
                }
            }
        case let other?: reject(part, .invalidField, "\(part) must be an object, not \(other.kind)")
        }
        var stamped: Set<String> = []
        for (name, json) in clockMap(part) {
            stamped.insert(name)
            let field = "\(part).\(name)"
            let path = "/clocks/\(part)/\(JSONPointer.escape(name))"
            guard let value = values[name] else {
                if rejected[field] == nil {
                    reject(
                        field, .invalidField, "clocks contains \(field), but \(part) has no \(name)", at: path)
                }
                continue
            }
            guard let clock = clock(json, of: field, at: path) else { continue }
            edits.append(Edit(attribute(name), value, at: clock))
        }
        for name in values.keys where !stamped.contains(name) {
            reject(
                "\(part).\(name)", .clockMissing, "\(part).\(name) must have a clock in clocks.\(part)",
                at: "/\(part)/\(JSONPointer.escape(name))")
        }
    }

    /// Reads the ancestry of a note's text: `textBase`, `textAfter` and `textBaseValue`. If a field is invalid, the text is
    /// rejected too.
    mutating func ancestry() -> TextAncestry {
        read += ["textBase", "textAfter", "textBaseValue"]
        var ancestry = TextAncestry()
        if let json = object["textBase"] { ancestry.base = clock(json, "textBase", at: "/textBase") }
        if let json = object["textAfter"] { ancestry.after = clocks(json, "textAfter", at: "/textAfter") }
        if case .string(let text)? = value("textBaseValue", FieldValue.text) { ancestry.baseValue = text }
        let invalid = ["textBase", "textAfter", "textBaseValue"].first { rejected[$0] != nil }
        if let invalid { drop(.text, "text requires a valid \(invalid)") }
        return ancestry
    }

    /// Reads the ancestries of the texts of an app's own object: `textBases`, `textsAfter` and `textBaseValues`, by the names of
    /// the texts. If a member is invalid, the text with its name is rejected too.
    mutating func namedAncestries() -> [Attribute: TextAncestry] {
        var ancestries: [Attribute: TextAncestry] = [:]
        forEachAncestor("textBases") { reader, attribute, json, field, path in
            ancestries[attribute, default: TextAncestry()].base = reader.clock(json, field, at: path)
        }
        forEachAncestor("textsAfter") { reader, attribute, json, field, path in
            ancestries[attribute, default: TextAncestry()].after = reader.clocks(json, field, at: path)
        }
        forEachAncestor("textBaseValues") { reader, attribute, json, field, path in
            switch FieldValue.text(json) {
            case .success(let value):
                if case .string(let text) = value { ancestries[attribute, default: TextAncestry()].baseValue = text }
            case .failure(let error):
                reader.reject(field, .invalidField, "\(field) \(error.requirement)", at: path, limit: error.limit)
            }
        }
        return ancestries
    }

    /// Calls `body` for each member of `textBases`, `textsAfter` or `textBaseValues`.
    private mutating func forEachAncestor(
        _ part: String, _ body: (inout ElementReader, Attribute, JSON, _ field: String, _ path: String) -> Void
    ) {
        read.append(part)
        switch object[part] {
        case nil: break
        case .object(let map)?:
            for member in map.members {
                let field = "\(part).\(member.name)"
                let attribute = Attribute.namedText(member.name)
                body(&self, attribute, member.value, field, "/\(part)/\(JSONPointer.escape(member.name))")
                if rejected[field] != nil {
                    drop(attribute, "\(attribute.description) requires a valid \(field)")
                }
            }
        case let other?:
            reject(part, .invalidField, "\(part) must be an object, not \(other.kind)")
            for edit in edits where edit.attribute.isText {
                drop(edit.attribute, "\(edit.attribute.description) requires a valid \(part)")
            }
        }
    }

    /// Rejects a field that was already read, because another field that it depends on was rejected.
    private mutating func drop(_ attribute: Attribute, _ detail: String) {
        guard edits.contains(where: { $0.attribute == attribute }) else { return }
        edits.removeAll { $0.attribute == attribute }
        let path = attribute.textName.map { "/texts/\(JSONPointer.escape($0))" }
        reject(attribute.description, .invalidField, detail, at: path)
    }

    /// Reads a value that is a clock, such as the value of `textBase`.
    private mutating func clock(_ json: JSON, _ field: String, at path: String) -> Clock? {
        if case .string(let text) = json, let clock = Clock(text) { return clock }
        reject(field, .invalidField, "\(field) must be a clock", at: path)
        return nil
    }

    /// Reads a value that is an array of clocks, such as the value of `textAfter`.
    private mutating func clocks(_ json: JSON, _ field: String, at path: String) -> [Clock]? {
        let limit = Limits.textAfter
        guard case .array(let elements) = json, elements.count <= limit else {
            reject(field, .invalidField, "\(field) must be an array of at most \(limit) clocks", at: path, limit: limit)
            return nil
        }
        var clocks: [Clock] = []
        for (index, element) in elements.enumerated() {
            guard case .string(let text) = element, let clock = Clock(text) else {
                reject(field, .invalidField, "\(field) must contain only clocks", at: "\(path)/\(index)")
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
