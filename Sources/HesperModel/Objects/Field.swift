/// The table of the fields that have one value each (merge.md, Edits).
///
/// Reading, folding, digests, writing, the plain routes and revocation go by it. A new field is a case and a row here; what else
/// it needs: development.md, Add a field to notes.
public enum Field: String, Sendable, CaseIterable {
    // In the order in which JSON has them.
    case creationDate, text, archived, sortDate
    case name
    case mimeType, width, height, filename, preview, byteCount, sha256
    case objectType

    // Inlined, so that a column costs no more than a switch of its own: it is read for each edit.
    @inline(__always)
    private var row: Row {
        switch self {
        case .creationDate: Row(.notes, .earliest, .date, FieldValue.date)
        case .text: Row(.notes, .register, .string, FieldValue.text, standard: .value(.string("")))
        case .archived: Row(.notes, .register, .bool, FieldValue.bool, standard: .value(.bool(false)))
        case .sortDate: Row(.notes, .register, .date, FieldValue.date, standard: .field(.creationDate))

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
        let standard: Standard?

        init(
            _ section: Section, _ rule: Rule, _ kind: Value.Kind,
            _ read: @escaping @Sendable (JSON) -> FieldValue.Outcome,
            standard: Standard? = nil
        ) {
            self.section = section
            self.rule = rule
            self.kind = kind
            self.read = read
            self.standard = standard
        }
    }

    /// Which of several values stands.
    public enum Rule: Sendable {
        /// The one with the greatest clock. All others have no clock.
        case register
        /// The first. Another that is pushed is refused.
        case once
        /// The lesser name. Another that is pushed is refused.
        case type
        /// The earlier date.
        case earliest
    }

    /// What a field has until it is set.
    public enum Standard: Sendable {
        case value(Value)
        /// What another field has.
        case field(Field)
    }

    /// The list whose objects have it.
    public var section: Section { row.section }
    public var rule: Rule { row.rule }
    public var kind: Value.Kind { row.kind }
    /// Nil for what an object cannot be without, or need not have.
    public var standard: Standard? { row.standard }

    /// Turns JSON into its value.
    public func read(_ json: JSON) -> FieldValue.Outcome { row.read(json) }
}

extension Section {
    /// What its objects consist of.
    public enum Part: Sendable {
        case field(Field)
        case tags
        case attachments
        case attributes

        public var name: String {
            switch self {
            case .field(let field): field.rawValue
            case .tags: "tags"
            case .attachments: "attachments"
            case .attributes: "attributes"
            }
        }
    }

    /// In the order in which JSON has them.
    public var parts: [Part] { Section.parts[rawValue] }
    /// By name, byte by byte: the order of the lines of a digest.
    var partsByName: [Part] { Section.partsByName[rawValue] }

    private static let parts = allCases.map { section in
        var parts = Field.allCases.filter { $0.section == section }.map(Part.field)
        if section == .notes { parts += [.tags, .attachments] }
        if section != .attachments { parts.append(.attributes) }
        return parts
    }

    private static let partsByName = parts.map { $0.sorted { $0.name < $1.name } }

    /// The field that makes an object of it exist (merge.md, Edits).
    public var needed: Field {
        switch self {
        case .notes: .creationDate
        case .tags: .name
        case .attachments: .mimeType
        case .objects: .objectType
        }
    }
}
