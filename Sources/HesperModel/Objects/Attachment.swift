/// What is known of an attachment beside its bytes; nothing of it ever changes (merge.md, Edits).
public struct Attachment: Sendable, Equatable {
    public let uniqueID: UniqueID
    var content = Content(of: .attachments)

    public init(uniqueID: UniqueID) { self.uniqueID = uniqueID }

    /// Whether its type is known: an attachment without one waits and is shown to nobody.
    public var exists: Bool { content.exists }

    public subscript(field: Field) -> Value? { content[field] }
}
