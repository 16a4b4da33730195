/// The properties of an attachment, without its bytes. The properties never change (merge.md, Edits).
public struct Attachment: Sendable, Equatable {
    public let uniqueID: UniqueID
    var content = Content(of: .attachments)

    public init(uniqueID: UniqueID) { self.uniqueID = uniqueID }

    /// Whether the attachment's `mimeType` is known. Until it is, the attachment is neither shown nor sent.
    public var exists: Bool { content.exists }

    public subscript(field: Field) -> Value? { content[field] }
}
