import HesperModel

/// The fields of a note, a tag or an app's own object as people and scripts send them: without clocks.
struct PlainFields: Sendable {
    var uniqueID: UniqueID?
    /// Fields that have one value, and attributes of apps.
    var values: [Attribute: Value] = [:]
    /// The whole new lists of members; nil where the field was left out.
    var tags: [UniqueID]?
    var attachments: [UniqueID]?

    /// About how many bytes a write of them has.
    var byteCount: Int { values.values.reduce(0) { $0 + $1.byteCount } }

    /// - Throws: ``Problem`` about the first field that is wrong.
    init(_ json: JSON, of section: Section, isPatch: Bool) throws(Problem) {
        var fields = try Fields(json)
        if !isPatch, let text = try fields.optionalString("uniqueID") {
            guard let id = UniqueID(text) else { throw fields.invalid("uniqueID", "is a UUID") }
            uniqueID = id
        }
        for part in section.parts {
            switch part {
            case .field(let field):
                // What is set once cannot be patched.
                if isPatch, field.rule != .register { continue }
                values[.field(field)] = try value(of: field, &fields)
            case .tags: tags = try members(part.name, &fields)
            case .attachments: attachments = try members(part.name, &fields)
            case .attributes: if let json = fields.value(part.name) { try addCustom(json, fields) }
            }
        }
        try fields.end()
        // Wanted also of an object that is there already: the same request is right or wrong, whatever is kept. A note is made now,
        // if no other date is given.
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
        guard case .array(let elements) = json else { throw fields.invalid(name, "is an array, not \(json.kind)") }
        guard elements.count <= Limits.members else {
            throw fields.invalid(name, "has at most \(Limits.members) members", limit: Limits.members)
        }
        var ids: [UniqueID] = []
        for (index, element) in elements.enumerated() {
            guard case .string(let text) = element, let id = UniqueID(text) else {
                throw Problem(.invalidField, "A member of \(name) is the ID of one.", at: "/\(name)/\(index)")
            }
            ids.append(id)
        }
        return ids
    }

    private mutating func addCustom(_ json: JSON, _ fields: Fields) throws(Problem) {
        guard case .object(let object) = json else {
            throw fields.invalid("attributes", "is an object, not \(json.kind)")
        }
        for member in object.members {
            switch FieldValue.custom(named: member.name, member.value) {
            case .success(let value): values[.custom(member.name)] = value
            case .failure(let error):
                throw Problem(
                    .invalidField, "attributes.\(member.name.prefix(64)) \(error.requirement).",
                    at: "/attributes/\(JSONPointer.escape(member.name))")
            }
        }
    }
}
