import HesperModel

/// The fields of a note, a tag or an app's own object as people and scripts send them: without clocks.
struct PlainFields: Sendable {
    var uniqueID: UniqueID?
    var creationDate: Timestamp?
    var objectType: String?
    /// Registers with one name and one value.
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
        switch section {
        case .notes:
            if !isPatch, case .date(let date)? = try value("creationDate", FieldValue.date, &fields) {
                creationDate = date
            }
            values[.text] = try value("text", FieldValue.text, &fields)
            values[.archived] = try value("archived", FieldValue.bool, &fields)
            values[.sortDate] = try value("sortDate", FieldValue.date, &fields)
            tags = try members("tags", &fields)
            attachments = try members("attachments", &fields)
        case .tags:
            values[.name] = try value("name", FieldValue.tagName, &fields)
        case .objects:
            if !isPatch, case .string(let name)? = try value("objectType", FieldValue.objectType, &fields) {
                objectType = name
            }
        case .attachments:
            for (attribute, convert) in PlainFields.attachment {
                values[attribute] = try value(attribute.description, convert, &fields)
            }
        }
        if section != .attachments, let json = fields.value("attributes") { try addCustom(json, fields) }
        try fields.end()
        // Wanted also of an object that is there already: the same request is right or wrong, whatever is kept.
        switch section {
        case .tags where !isPatch && values[.name] == nil:
            throw Problem(.invalidField, "name is missing.", at: "/name")
        case .attachments where values[.mimeType] == nil:
            throw Problem(.invalidField, "mimeType is missing.", at: "/mimeType")
        case .objects where !isPatch && objectType == nil:
            throw Problem(.invalidField, "objectType is missing.", at: "/objectType")
        default: break
        }
    }

    private static let attachment: [(Attribute, @Sendable (JSON) -> FieldValue.Outcome)] = [
        (.mimeType, FieldValue.mimeType), (.width, FieldValue.size), (.height, FieldValue.size),
        (.filename, FieldValue.filename), (.preview, FieldValue.preview), (.byteCount, FieldValue.size),
        (.sha256, FieldValue.sha256),
    ]

    private func value(
        _ name: String, _ convert: (JSON) -> FieldValue.Outcome, _ fields: inout Fields
    ) throws(Problem) -> Value? {
        guard let json = fields.value(name) else { return nil }
        switch convert(json) {
        case .success(let value): return value
        case .failure(let error): throw fields.invalid(name, error.what, limit: error.limit)
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
                    .invalidField, "attributes.\(member.name.prefix(64)): \(error.what).",
                    at: "/attributes/\(JSONPointer.escape(member.name))")
            }
        }
    }
}
