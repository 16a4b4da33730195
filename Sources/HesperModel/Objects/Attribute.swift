/// The name of what an edit sets (merge.md, Edits).
public enum Attribute: Hashable, Sendable {
    // Of a note.
    case creationDate
    case text
    case archived
    case sortDate
    case tag(UniqueID)
    case attachment(UniqueID)
    // Of a tag.
    case name
    // Of an attachment; set once.
    case mimeType
    case width
    case height
    case filename
    case byteCount
    case sha256
    case preview
    // Of an app's own object; set once.
    case objectType
    /// What an app made up: `attributes.<name>`.
    case custom(String)

    /// As it stands in receipts, in a history and in the lines of a digest.
    public var description: String {
        switch self {
        case .tag(let id): "tags.\(id)"
        case .attachment(let id): "attachments.\(id)"
        case .custom(let name): "attributes.\(name)"
        case .creationDate: "creationDate"
        case .text: "text"
        case .archived: "archived"
        case .sortDate: "sortDate"
        case .name: "name"
        case .mimeType: "mimeType"
        case .width: "width"
        case .height: "height"
        case .filename: "filename"
        case .byteCount: "byteCount"
        case .sha256: "sha256"
        case .preview: "preview"
        case .objectType: "objectType"
        }
    }

    /// Whether it has a clock and may change; the others are set once.
    public var isMutable: Bool {
        switch self {
        case .text, .archived, .sortDate, .tag, .attachment, .name, .custom: true
        default: false
        }
    }

    private static let plain: [Attribute] = [
        .creationDate, .text, .archived, .sortDate, .name, .mimeType, .width, .height, .filename, .byteCount, .sha256,
        .preview, .objectType,
    ]

    /// Reads what ``description`` writes.
    public init?(_ description: String) {
        if let plain = Attribute.plain.first(where: { $0.description == description }) {
            self = plain
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
