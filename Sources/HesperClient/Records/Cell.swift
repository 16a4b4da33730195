package import HesperModel

/// A register of an object: a value, and the clock of the edit that set it.
package struct Cell: Sendable, Equatable {
    package var value: Value
    package var clock: Clock

    package init(_ value: Value, at clock: Clock) {
        self.value = value
        self.clock = clock
    }
}

extension Cell {
    var json: JSON { .object(JSONObject([("value", value.json), ("clock", .string(clock.description))])) }

    init?(json: JSON) {
        guard let value = json["value"].flatMap(Value.init(scalar:)), let clock = json["clock"]?.clock else {
            return nil
        }
        self.init(value, at: clock)
    }
}

/// The names of the attributes that this library uses. Receipts and digests contain these names too.
package enum AttributeName {
    package static let text = "text"
    package static let name = "name"
    package static let archived = "archived"
    package static let creationDate = "creationDate"
    package static let mimeType = "mimeType"
    package static let sha256 = "sha256"

    /// The name of an attribute that an app defines.
    package static func custom(_ name: String) -> String { "attributes.\(name)" }
    /// The name of the register that states whether a note has a tag.
    package static func tag(_ id: UniqueID) -> String { "tags.\(id)" }
    /// The name of the register that states whether a note has an attachment.
    package static func attachment(_ id: UniqueID) -> String { "attachments.\(id)" }

    /// The name of a text of an app's object.
    package static func namedText(_ name: String) -> String { "texts.\(name)" }
    /// The name of a file of an app's object. The value is the ID of an attachment, or null.
    package static func file(_ name: String) -> String { "files.\(name)" }

    /// Whether an attribute is a text that the server merges: the text of a note, or a text of an app's object.
    package static func isText(_ attribute: String) -> Bool { attribute == text || attribute.hasPrefix("texts.") }

    /// The attachment to which a register with this name and value refers; nil if it refers to none.
    package static func heldAttachment(_ attribute: String, _ value: Value?) -> UniqueID? {
        guard attribute.hasPrefix("attachments.") || attribute.hasPrefix("files.") else { return nil }
        return Attribute(attribute)?.heldAttachment(value)
    }

    /// The feature without which a server rejects an attribute; nil if every server accepts it.
    static func feature(of attribute: String) -> String? {
        if attribute.hasPrefix("texts.") { return "object-texts" }
        return attribute.hasPrefix("files.") ? "object-files" : nil
    }

    /// The attributes of notes whose values are sets of IDs. A set has one register for each member.
    static let members: Set<String> = ["tags", "attachments"]
    /// The fields of attachments, which are set once.
    static let ofAttachments = ["mimeType", "width", "height", "filename", "preview", "byteCount", "sha256"]

    /// Splits the name of an attribute at its first dot: `tags.<ID>` into `tags` and `<ID>`, `text` into `text` and nil. The second
    /// part may contain dots.
    static func split(_ attribute: String) -> (section: String, key: String?) {
        guard let dot = attribute.firstIndex(of: ".") else { return (attribute, nil) }
        return (String(attribute[..<dot]), String(attribute[attribute.index(after: dot)...]))
    }
}

/// The names of types that the protocol defines. All other types are defined by apps.
package enum TypeName {
    package static let note = "note"
    package static let tag = "tag"
    package static let attachment = "attachment"

    /// The name of the list that contains the objects of a type in a page or a push (protocol.md, Sync).
    static func section(of type: String) -> String {
        switch type {
        case note: "notes"
        case tag: "tags"
        case attachment: "attachments"
        default: "objects"
        }
    }
}
