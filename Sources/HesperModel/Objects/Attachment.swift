/// What is known of an attachment beside its bytes; nothing of it ever changes (merge.md, Edits).
public struct Attachment: Sendable, Equatable {
    public let uniqueID: UniqueID
    /// In the order in which JSON has them.
    static let attributes: [Attribute] = [.mimeType, .width, .height, .filename, .preview, .byteCount, .sha256]
    private(set) var properties: [Attribute: Value] = [:]

    public init(uniqueID: UniqueID) { self.uniqueID = uniqueID }

    /// Whether its type is known: an attachment without one waits and is shown to nobody.
    public var exists: Bool { properties[.mimeType] != nil }

    public subscript(attribute: Attribute) -> Value? { properties[attribute] }

    /// The first value of each property stands.
    mutating func fold(_ edit: Edit) -> Bool {
        guard let value = edit.value, Attachment.attributes.contains(edit.attribute),
            properties[edit.attribute] == nil
        else { return false }
        properties[edit.attribute] = value
        return true
    }

    func writeState(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("uniqueID", uniqueID)
            for attribute in Attachment.attributes {
                if let value = properties[attribute] { writer.member(attribute.description, value) }
            }
        }
    }
}
