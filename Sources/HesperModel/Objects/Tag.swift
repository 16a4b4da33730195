/// A tag. Its identity is its `uniqueID`; its name is unique within a scope under ``TagName/fold(_:)`` (merge.md, Tags).
public struct Tag: Sendable, Equatable {
    public let uniqueID: UniqueID
    var content = Content(of: .tags)

    public init(uniqueID: UniqueID) { self.uniqueID = uniqueID }

    /// Whether its name is known: a tag without one waits and is shown to nobody.
    public var exists: Bool { content.exists }
    public var name: String { if case .string(let name)? = content[.name] { name } else { "" } }
    public var attributes: CustomAttributes { content.attributes }

    /// For readers that keep no clocks.
    public var plain: [UInt8] { content.plain(uniqueID) }
}
