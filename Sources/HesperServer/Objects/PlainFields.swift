import HesperModel

/// The fields of a note, tag or app object in the form without clocks, as users and scripts send them.
struct PlainFields: Sendable {
    var uniqueID: UniqueID?
    /// The values of the fields that hold a single value, and of app-defined attributes, texts and files.
    var values: [Attribute: Value] = [:]
    /// The complete new list of tags; nil if the request omits the list.
    var tags: [UniqueID]?
    /// The complete new list of attachments; nil if the request omits the list.
    var attachments: [UniqueID]?
    /// The names of tags that the note gets in addition to ``tags``; nil if the request omits them. Tags that do not exist are
    /// created.
    var tagNames: [String]?

    init(values: [Attribute: Value]) { self.values = values }

    /// The approximate size of a write of these fields, in bytes.
    var byteCount: Int { values.values.reduce(0) { $0 + $1.byteCount } }

    /// Reads the fields from a request.
    /// - Parameter isPatch: whether the request is a `PATCH`.
    /// - Throws: ``Problem`` for the first invalid field.
    init(_ json: JSON, of section: Section, isPatch: Bool) throws(Problem) {
        var fields = try Fields(json)
        if !isPatch, let text = try fields.optionalString("uniqueID") {
            guard let id = UniqueID(text) else { throw fields.invalid("uniqueID", "must be a UUID") }
            uniqueID = id
        }
        for part in section.parts {
            switch part {
            case .field(let field):
                // A `PATCH` cannot contain immutable fields. They are not read here, so ``Fields/end()`` rejects them as unknown.
                if isPatch, field.rule != .register { continue }
                values[.field(field)] = try value(of: field, &fields)
            case .tags: tags = try members(part.name, &fields)
            case .attachments: attachments = try members(part.name, &fields)
            case .attributes: try addNamed(part.name, &fields, FieldValue.custom) { .custom($0) }
            case .texts: try addNamed(part.name, &fields, FieldValue.text) { .namedText($0) }
            case .files: try addNamed(part.name, &fields, FieldValue.file) { .file($0) }
            }
        }
        if section == .notes { tagNames = try names(&fields) }
        try fields.end()
        // Each section has one required field. A request other than `PATCH` must contain it even if the object exists, so that the
        // validity of the request does not depend on stored data. A request for a note may omit it, because the required field of
        // notes is the creation date, which defaults to the current time.
        let needed = section.requiredField
        guard isPatch || section == .notes || values[.field(needed)] != nil else {
            throw Problem(.invalidField, "\(needed.rawValue) is missing.", at: "/\(needed.rawValue)")
        }
    }

    private func value(of field: Field, _ fields: inout Fields) throws(Problem) -> Value? {
        guard let json = fields.value(field.rawValue) else { return nil }
        switch field.read(json) {
        case .success(let value): return value
        case .failure(let error): throw fields.invalid(field.rawValue, error.requirement, limit: error.limit)
        }
    }

    private func members(_ name: String, _ fields: inout Fields) throws(Problem) -> [UniqueID]? {
        guard let json = fields.value(name) else { return nil }
        guard case .array(let elements) = json else { throw fields.invalid(name, "must be an array, not \(json.kind)") }
        guard elements.count <= Limits.members else {
            throw fields.invalid(name, "must have at most \(Limits.members) members", limit: Limits.members)
        }
        var ids: [UniqueID] = []
        for (index, element) in elements.enumerated() {
            guard case .string(let text) = element, let id = UniqueID(text) else {
                throw Problem(.invalidField, "\(name) must contain only UUIDs.", at: "/\(name)/\(index)")
            }
            ids.append(id)
        }
        return ids
    }

    private func names(_ fields: inout Fields) throws(Problem) -> [String]? {
        guard let json = fields.value("tagNames") else { return nil }
        guard case .array(let elements) = json else {
            throw fields.invalid("tagNames", "must be an array, not \(json.kind)")
        }
        guard elements.count <= Limits.members else {
            throw fields.invalid("tagNames", "must have at most \(Limits.members) members", limit: Limits.members)
        }
        var names: [String] = []
        for (index, element) in elements.enumerated() {
            switch FieldValue.tagName(element) {
            case .success(let value): if case .string(let name) = value { names.append(name) }
            case .failure(let error):
                throw Problem(.invalidField, "A name in tagNames \(error.requirement).", at: "/tagNames/\(index)")
            }
        }
        return names
    }

    /// Reads `attributes`, `texts` or `files`.
    private mutating func addNamed(
        _ part: String, _ fields: inout Fields, _ read: (String, JSON) -> FieldValue.Outcome,
        _ attribute: (String) -> Attribute
    ) throws(Problem) {
        guard let json = fields.value(part) else { return }
        guard case .object(let object) = json else {
            throw fields.invalid(part, "must be an object, not \(json.kind)")
        }
        for member in object.members {
            switch read(member.name, member.value) {
            case .success(let value): values[attribute(member.name)] = value
            case .failure(let error):
                throw Problem(
                    .invalidField, "\(part).\(member.name.prefix(64)) \(error.requirement).",
                    at: "/\(part)/\(JSONPointer.escape(member.name))")
            }
        }
    }
}
