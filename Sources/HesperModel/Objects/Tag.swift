/// A tag. Its identity is its `uniqueID`. Its name is unique within a scope under ``TagName/fold(_:)`` (merge.md, Tags).
public struct Tag: Sendable, Equatable {
    public let uniqueID: UniqueID
    var content = Content(of: .tags)

    public init(uniqueID: UniqueID) { self.uniqueID = uniqueID }

    /// Whether its name is known. A tag without a name waits and is not shown.
    public var exists: Bool { content.exists }
    public var name: String { if case .string(let name)? = content[.name] { name } else { "" } }
    public var attributes: CustomAttributes { content.attributes }

    /// The JSON without clocks.
    public var plain: [UInt8] { content.plain(uniqueID) }
}
