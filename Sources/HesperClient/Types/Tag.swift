/// A tag. Two tags whose names differ only in case or in spaces at the ends are merged into one.
public struct Tag: SyncedObject {
    public static let objectType = "tag"

    public var id = ObjectID<Tag>()
    /// The name of the tag, at most 256 bytes.
    @Merged public var name = ""

    /// Creates a tag without a name. It must be named before it is inserted.
    public init() {}

    /// Creates a tag with a name.
    public init(name: String) { self.name = name }
}
