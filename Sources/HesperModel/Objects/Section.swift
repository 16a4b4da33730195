/// The four kinds of objects. A push and a page of a feed have a separate list of objects for each section.
public enum Section: Int, Sendable, CaseIterable {
    case notes
    case tags
    case attachments
    case objects

    public var name: String {
        switch self {
        case .notes: "notes"
        case .tags: "tags"
        case .attachments: "attachments"
        case .objects: "objects"
        }
    }

    /// The type of all objects in this section. Nil for apps' own objects, because each of them has a type that its app chose.
    public var objectType: ObjectType? {
        switch self {
        case .notes: .note
        case .tags: .tag
        case .attachments: .attachment
        case .objects: nil
        }
    }

    public init(_ type: ObjectType) {
        self =
            switch type {
            case .note: .notes
            case .tag: .tags
            case .attachment: .attachments
            default: .objects
            }
    }

    /// Creates an object of this section that has no attributes yet.
    public func empty(_ id: UniqueID) -> Entity {
        switch self {
        case .notes: .note(Note(uniqueID: id))
        case .tags: .tag(Tag(uniqueID: id))
        case .attachments: .attachment(Attachment(uniqueID: id))
        case .objects: .object(AppObject(uniqueID: id))
        }
    }
}
