/// The name of an attribute that an edit sets (merge.md, Edits).
public enum Attribute: Hashable, Sendable {
    case field(Field)
    /// Whether a note has the tag with this ID.
    case tag(UniqueID)
    /// Whether a note has the attachment with this ID.
    case attachment(UniqueID)
    /// An attribute that an app defines: `attributes.<name>`.
    case custom(String)

    public static let creationDate = field(.creationDate)
    public static let text = field(.text)
    public static let archived = field(.archived)
    public static let sortDate = field(.sortDate)
    public static let name = field(.name)
    public static let mimeType = field(.mimeType)
    public static let width = field(.width)
    public static let height = field(.height)
    public static let filename = field(.filename)
    public static let preview = field(.preview)
    public static let byteCount = field(.byteCount)
    public static let sha256 = field(.sha256)
    public static let objectType = field(.objectType)

    /// The attribute's name, as used in receipts, in histories and in the lines of a digest.
    public var description: String {
        switch self {
        case .field(let field): field.rawValue
        case .tag(let id): "tags.\(id)"
        case .attachment(let id): "attachments.\(id)"
        case .custom(let name): "attributes.\(name)"
        }
    }

    /// Whether the attribute is a register, that is, it has a clock and may change. All other attributes are set once.
    public var isMutable: Bool {
        switch self {
        case .field(let field): field.rule == .register
        case .tag, .attachment, .custom: true
        }
    }

    /// Parses an attribute's ``description``; nil if the text is not one.
    public init?(_ description: String) {
        if let field = Field(rawValue: description) {
            self = .field(field)
        } else if let id = description.suffix(after: "tags.").flatMap(UniqueID.init) {
            self = .tag(id)
        } else if let id = description.suffix(after: "attachments.").flatMap(UniqueID.init) {
            self = .attachment(id)
        } else if let name = description.suffix(after: "attributes."), Name.isValid(name) {
            self = .custom(name)
        } else {
            return nil
        }
    }
}

extension String {
    fileprivate func suffix(after prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
