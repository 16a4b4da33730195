/// An app's own object: a type and attributes that the app defines. The server does not interpret them.
public struct AppObject: Sendable, Equatable {
    public let uniqueID: UniqueID
    var content = Content(of: .objects)

    public init(uniqueID: UniqueID) { self.uniqueID = uniqueID }

    /// Nil while only attributes are known. Such an object waits and is not shown.
    public var objectType: ObjectType? {
        if case .string(let name)? = content[.objectType] { ObjectType(name) } else { nil }
    }
    public var attributes: CustomAttributes { content.attributes }

    /// The JSON without clocks.
    public var plain: [UInt8] { content.plain(uniqueID) }
}
