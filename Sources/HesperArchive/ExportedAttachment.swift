import HesperModel

/// The properties of an attachment that an export needs.
struct ExportedAttachment: Sendable {
    let uniqueID: UniqueID
    let filename: String?
    let mimeType: String?

    init(_ body: ArraySlice<UInt8>) throws {
        let json = try body.withUnsafeBytes { try JSONReader.read($0) }
        uniqueID = try json.uniqueID
        filename = json["filename"]?.text
        mimeType = json["mimeType"]?.text
    }
}

/// The properties of a note that an export needs.
struct ExportedNote {
    let uniqueID: UniqueID
    let text: String
    let isArchived: Bool
    /// The time at which the text was last changed. It becomes the modification time of the file. The property `sortDate` is not
    /// used, because it changes when the note is moved to the top of the list.
    let date: Timestamp

    init(_ body: ArraySlice<UInt8>) throws {
        let json = try body.withUnsafeBytes { try JSONReader.read($0) }
        uniqueID = try json.uniqueID
        text = json["text"]?.text ?? ""
        isArchived = json["archived"] == .bool(true)
        let written = json["clocks"]?["text"]?.text.flatMap { Clock($0) }?.timestamp
        date = written ?? json["creationDate"]?.text.flatMap { Timestamp($0) } ?? Timestamp(clamping: 0)
    }
}

extension JSON {
    /// The value of the member `name` of this JSON object. Nil if this JSON value is not an object, or has no member with this
    /// name.
    subscript(name: String) -> JSON? {
        guard case .object(let object) = self else { return nil }
        return object[name]
    }

    var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    fileprivate var uniqueID: UniqueID {
        get throws {
            guard let id = self["uniqueID"]?.text.flatMap({ UniqueID($0) }) else {
                throw Problem(.internalError, "A stored object has no ID.")
            }
            return id
        }
    }
}
