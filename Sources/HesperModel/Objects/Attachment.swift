/// The properties of an attachment, without its bytes. They never change (merge.md, Edits).
public struct Attachment: Sendable, Equatable {
    public let uniqueID: UniqueID
    var content = Content(of: .attachments)

    public init(uniqueID: UniqueID) { self.uniqueID = uniqueID }

    /// Whether its `mimeType` is known. An attachment without one waits and is not shown.
    public var exists: Bool { content.exists }

    public subscript(field: Field) -> Value? { content[field] }
}
