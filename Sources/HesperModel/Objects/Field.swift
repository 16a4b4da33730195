/// The table of all single-valued fields (merge.md, Edits).
///
/// The code that reads, writes and folds objects uses this table. Digests, revocation and the routes for clients without clocks use
/// it too. A new field needs a case and a row here. The other steps are in development.md, Add a field to notes.
public enum Field: String, Sendable, CaseIterable {
    // The cases are in the order in which JSON lists the fields.
    case creationDate, text, archived, sortDate
    case name
    case mimeType, width, height, filename, preview, byteCount, sha256
    case objectType

    // This property is inlined because it is read for each edit. After inlining, reading one property of a row costs no more than
    // a switch.
    @inline(__always)
    private var row: Row {
        switch self {
        case .creationDate: Row(.notes, .earliest, .date, FieldValue.date)
        case .text: Row(.notes, .register, .string, FieldValue.text, defaultValue: .value(.string("")))
        case .archived: Row(.notes, .register, .bool, FieldValue.bool, defaultValue: .value(.bool(false)))
        case .sortDate: Row(.notes, .register, .date, FieldValue.date, defaultValue: .field(.creationDate))

        case .name: Row(.tags, .register, .string, FieldValue.tagName)

        case .mimeType: Row(.attachments, .once, .string, FieldValue.mimeType)
        case .width: Row(.attachments, .once, .integer, FieldValue.size)
        case .height: Row(.attachments, .once, .integer, FieldValue.size)
        case .filename: Row(.attachments, .once, .string, FieldValue.filename)
        case .preview: Row(.attachments, .once, .string, FieldValue.preview)
        case .byteCount: Row(.attachments, .once, .integer, FieldValue.size)
        case .sha256: Row(.attachments, .once, .string, FieldValue.sha256)

        case .objectType: Row(.objects, .type, .string, FieldValue.objectType)
        }
    }

    private struct Row {
        let section: Section
        let rule: Rule
        let kind: Value.Kind
        let read: @Sendable (JSON) -> FieldValue.Outcome
        let defaultValue: Default?

        init(
            _ section: Section, _ rule: Rule, _ kind: Value.Kind,
            _ read: @escaping @Sendable (JSON) -> FieldValue.Outcome,
            defaultValue: Default? = nil
        ) {
            self.section = section
            self.rule = rule
            self.kind = kind
            self.read = read
            self.defaultValue = defaultValue
        }
    }

    /// The rule that selects the current value of a field among the values that were set.
    public enum Rule: Sendable {
        /// The value with the greatest clock is current. Fields with any other rule have no clock.
        case register
        /// The first value stays current. An edit that pushes a different value is rejected.
        case once
        /// The field is set once, as with ``once``, and the value is the name of a type. If edits with different names are folded
        /// nevertheless, the smallest name is current.
        case type
        /// The earliest date is current.
        case earliest
    }

    /// The value of a field that was never set.
    public enum Default: Sendable {
        case value(Value)
        /// The value of another field.
        case field(Field)
    }

    /// The section whose objects have this field.
    public var section: Section { row.section }
    public var rule: Rule { row.rule }
    public var kind: Value.Kind { row.kind }
    /// The default value. Nil for required fields and for fields that are absent from the JSON until they are set.
    public var defaultValue: Default? { row.defaultValue }

    /// Reads and validates a value of this field from JSON.
    public func read(_ json: JSON) -> FieldValue.Outcome { row.read(json) }
}

extension Section {
    /// A member of an object's JSON: a field, or a map or list of registers.
    public enum Part: Sendable {
        case field(Field)
        case tags
        case attachments
        case attributes
        case texts
        case files

        public var name: String {
            switch self {
            case .field(let field): field.rawValue
            case .tags: "tags"
            case .attachments: "attachments"
            case .attributes: "attributes"
            case .texts: "texts"
            case .files: "files"
            }
        }
    }

    /// The members of an object's JSON in this section, in the order in which they are written.
    public var parts: [Part] { Section.parts[rawValue] }
    /// The members of an object's JSON in this section, sorted by the bytes of their names, like the lines of a digest.
    var partsByName: [Part] { Section.partsByName[rawValue] }

    private static let parts = allCases.map { section in
        var parts = Field.allCases.filter { $0.section == section }.map(Part.field)
        if section == .notes { parts += [.tags, .attachments] }
        if section != .attachments { parts.append(.attributes) }
        if section == .objects { parts += [.texts, .files] }
        return parts
    }

    private static let partsByName = parts.map { $0.sorted { $0.name < $1.name } }

    /// The required field of this section. An object exists only if this field is set (merge.md, Edits).
    public var requiredField: Field {
        switch self {
        case .notes: .creationDate
        case .tags: .name
        case .attachments: .mimeType
        case .objects: .objectType
        }
    }
}
