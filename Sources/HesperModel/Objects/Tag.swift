/// A tag. It is identified by its `uniqueID`. Within a scope, no two tags have the same folded name: see ``TagName/fold(_:)``
/// and merge.md, Tags.
public struct Tag: Sendable, Equatable {
    public let uniqueID: UniqueID
    var content = Content(of: .tags)

    public init(uniqueID: UniqueID) { self.uniqueID = uniqueID }

    /// Whether the tag's name is known. Until it is, the tag is neither shown nor sent.
    public var exists: Bool { content.exists }
    public var name: String { if case .string(let name)? = content[.name] { name } else { "" } }
    public var attributes: NamedRegisters { content.attributes }

    /// The tag's JSON, without clocks.
    public var plain: [UInt8] { content.plain(uniqueID) }
}
