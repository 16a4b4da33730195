/// The name of an attribute that an edit sets (merge.md, Edits).
public enum Attribute: Hashable, Sendable {
    case field(Field)
    /// Whether a note has the tag with this ID.
    case tag(UniqueID)
    /// Whether a note has the attachment with this ID.
    case attachment(UniqueID)
    /// An attribute that an app defines: `attributes.<name>`.
    case custom(String)
    /// A text of an app's own object: `texts.<name>`. It is merged like the text of a note.
    case namedText(String)
    /// An attachment of an app's own object: `files.<name>`. The value is the attachment's ID, or null.
    case file(String)

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
        case .namedText(let name): "texts.\(name)"
        case .file(let name): "files.\(name)"
        }
    }

    /// Whether the attribute is a register, that is, it has a clock and may change. All other attributes are set once.
    public var isMutable: Bool {
        switch self {
        case .field(let field): field.rule == .register
        case .tag, .attachment, .custom, .namedText, .file: true
        }
    }

    /// Whether the attribute is a text that the server merges: the text of a note, or a text of an app's own object.
    public var isText: Bool {
        switch self {
        case .field(let field): field == .text
        case .namedText: true
        case .tag, .attachment, .custom, .file: false
        }
    }

    /// The name of a text of an app's own object; nil for any other attribute, including the text of a note.
    public var textName: String? { if case .namedText(let name) = self { name } else { nil } }

    /// The attachment that an object holds if this attribute has the given value; nil if there is none.
    public func heldAttachment(_ value: Value?) -> UniqueID? {
        switch (self, value) {
        case (.attachment(let id), .bool(true)?): id
        case (.file, .string(let text)?): UniqueID(text)
        case (.field, _), (.tag, _), (.attachment, _), (.custom, _), (.namedText, _), (.file, _): nil
        }
    }

    /// Parses the ``description`` of an attribute; nil if the text is not a valid description.
    public init?(_ description: String) {
        if let field = Field(rawValue: description) {
            self = .field(field)
        } else if let id = description.suffix(after: "tags.").flatMap(UniqueID.init) {
            self = .tag(id)
        } else if let id = description.suffix(after: "attachments.").flatMap(UniqueID.init) {
            self = .attachment(id)
        } else if let name = description.suffix(after: "attributes."), Name.isValid(name) {
            self = .custom(name)
        } else if let name = description.suffix(after: "texts."), Name.isValid(name) {
            self = .namedText(name)
        } else if let name = description.suffix(after: "files."), Name.isValid(name) {
            self = .file(name)
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
