/// An app's own object: a type and attributes that the app made up. The server need not know what it is.
public struct AppObject: Sendable, Equatable {
    public let uniqueID: UniqueID
    var content = Content(of: .objects)

    public init(uniqueID: UniqueID) { self.uniqueID = uniqueID }

    /// Nil while only attributes of it are known: it waits and is shown to nobody.
    public var objectType: ObjectType? {
        if case .string(let name)? = content[.objectType] { ObjectType(name) } else { nil }
    }
    public var attributes: CustomAttributes { content.attributes }

    /// For readers that keep no clocks.
    public var plain: [UInt8] { content.plain(uniqueID) }
}
