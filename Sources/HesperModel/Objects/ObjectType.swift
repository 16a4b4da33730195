/// The type of an object: `note`, `tag`, `attachment`, or a type that an app defines.
public struct ObjectType: Hashable, Sendable {
    public let name: String

    public static let note = ObjectType(unchecked: "note")
    public static let tag = ObjectType(unchecked: "tag")
    public static let attachment = ObjectType(unchecked: "attachment")

    /// Creates a type; nil unless the name matches `[A-Za-z][A-Za-z0-9_.-]{0,63}` (merge.md, Edits).
    public init?(_ name: String) {
        guard Name.isValid(name) else { return nil }
        self.name = name
    }

    private init(unchecked name: String) { self.name = name }

    /// Whether objects of the type may have texts. If a device deletes an object whose texts have words that the device had not
    /// seen, the texts are kept in a new object (merge.md, Deleting).
    public var hasTexts: Bool { self == .note || isAppDefined }

    /// Whether an app defines the type.
    public var isAppDefined: Bool { self != .note && self != .tag && self != .attachment }
}

/// The rule for the names of the types, attributes, texts and files that apps define.
public enum Name {
    /// Whether a name matches `[A-Za-z][A-Za-z0-9_.-]{0,63}` (merge.md, Edits).
    public static func isValid(_ name: String) -> Bool {
        let utf8 = name.utf8
        guard let first = utf8.first, isLetter(first), utf8.count <= Limits.nameLength else { return false }
        return utf8.allSatisfy { byte in
            isLetter(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
                || byte == UInt8(ascii: "-")
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
    }
}
