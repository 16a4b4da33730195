/// An app's own object: a type, and attributes, texts and files that the app defines. The server does not interpret them.
public struct AppObject: Sendable, Equatable {
    public let uniqueID: UniqueID
    var content = Content(of: .objects)

    public init(uniqueID: UniqueID) { self.uniqueID = uniqueID }

    /// The type that the app gave the object. Nil until an edit with the type arrives; until then the object is neither shown
    /// nor sent.
    public var objectType: ObjectType? {
        if case .string(let name)? = content[.objectType] { ObjectType(name) } else { nil }
    }
    public var attributes: NamedRegisters { content.attributes }
    public var texts: NamedRegisters { content.texts }
    public var files: NamedRegisters { content.files }

    /// The object's JSON, without clocks.
    public var plain: [UInt8] { content.plain(uniqueID) }
}
