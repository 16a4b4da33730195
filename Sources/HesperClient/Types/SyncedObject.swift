package import HesperModel

/// A type whose objects sync: a struct with an ID and properties declared with ``Merged``.
///
///     struct Recipe: SyncedObject {
///         static let objectType = "recipe"
///         var id = ObjectID<Recipe>()
///         @Merged var title = ""
///         @Merged var tags = MergedSet<ObjectID<Tag>>()
///     }
///
/// All properties have defaults. A property is read as its default if the stored value does not have the declared type, or if the
/// object lacks the property, for example because another version of the app wrote the object. A property may be renamed if
/// `CodingKeys` keeps its former name.
public protocol SyncedObject: Identifiable, Codable, Sendable, Equatable where ID == ObjectID<Self> {
    /// The name of the type in the store and on the server. It must never change, and must match
    /// `[A-Za-z][A-Za-z0-9_.-]{0,63}`.
    static var objectType: String { get }
    /// The indexes that make predicates and orders fast. By default, there are none.
    static var indexes: [Index<Self>] { get }
    /// The ID of the object. It must be declared with `var`.
    var id: ObjectID<Self> { get }
    /// Creates an object with a new ID and the default values.
    init()
}

extension SyncedObject {
    public static var indexes: [Index<Self>] { [] }
}

extension SyncedObject {
    /// Reads an object from its image. Its properties keep the values that were read.
    /// - Parameter resolve: returns the ID of the tag or attachment to which a stored ID refers, because a tag may have been merged
    ///   into another tag. Returns nil if the object is deleted or unknown (merge.md, Membership).
    package init(image: ObjectImage, resolve: @escaping (UniqueID) throws -> UniqueID? = { $0 }) throws {
        let shape = Shape<Self>.shared
        if let problem = shape.problem { throw problem }
        try self.init(from: ImageDecoder(ImageReader(image, shape.names, shape.defaults(for: image), resolve)))
    }

    /// Whether the object was read from a store.
    package var wasRead: Bool { get throws { try ImageWriter(self).wasRead } }

    /// The changes of the mutable attributes since the object was read. If the object was not read
    /// from a store, all attributes are changes, except empty texts and counters of zero.
    package func changes() throws -> [AttributeChange] {
        try ImageWriter(self).changes(ofFixed: false)
    }

    /// The values to write for a new object: the fields that are set once, and all other attributes. Empty texts, files that are
    /// nil, and counters of zero are left out.
    package func insertion() throws -> (fixed: [String: Value], changes: [AttributeChange]) {
        var fixed: [String: Value] = [:]
        let writer = try ImageWriter(self, isNew: true)
        for case .set(let name, let value) in try writer.changes(ofFixed: true) where value != .null {
            fixed[name] = value
        }
        let changes = try writer.changes(ofFixed: false)
        guard writer.names.isBuiltIn else { return (fixed, changes.filter { !$0.isEmptyFile }) }
        // Like the web app, the library does not write registers for the defaults of notes and tags.
        let image = ObjectImage(id: id.uniqueID, values: fixed)
        let defaults = Shape<Self>.shared.defaults(for: image).filter { $0.key != AttributeName.name }
        return (
            fixed,
            changes.filter { change in
                if case .set(let name, let value) = change { defaults[name] != value } else { true }
            }
        )
    }
}
