/// The reason why a value is invalid. ``requirement`` completes a sentence that begins with the field's name, for example "must
/// be true or false".
public struct FieldError: Error {
    public let requirement: String
    public let limit: Int?

    init(_ requirement: String, limit: Int? = nil) {
        self.requirement = requirement
        self.limit = limit
    }
}

/// Reads and validates field values from JSON, with one function per kind of field.
public enum FieldValue {
    public typealias Outcome = Result<Value, FieldError>

    /// Reads the text of a note.
    public static func text(_ json: JSON) -> Outcome { string(json, atMost: Limits.textBytes) }

    public static func bool(_ json: JSON) -> Outcome {
        guard case .bool(let value) = json else {
            return .failure(FieldError("must be true or false, not \(json.kind)"))
        }
        return .success(.bool(value))
    }

    public static func date(_ json: JSON) -> Outcome {
        guard case .string(let text) = json, let date = Timestamp(text) else {
            return .failure(
                FieldError("must be a date such as 2026-11-21T08:47:12.345Z (RFC 3339), in the years 0001 to 9999"))
        }
        return .success(.date(date))
    }

    /// Reads the name of a tag.
    public static func tagName(_ json: JSON) -> Outcome {
        let outcome = string(json, atMost: Limits.tagNameBytes)
        if case .success(.string(let name)) = outcome, TagName.fold(name).isEmpty {
            return .failure(FieldError("must contain a character that is not white space"))
        }
        return outcome
    }

    /// Reads the type of an app's own object.
    public static func objectType(_ json: JSON) -> Outcome {
        guard case .string(let name) = json, let type = ObjectType(name), type.isAppDefined else {
            return .failure(
                FieldError(
                    "must match [A-Za-z][A-Za-z0-9_.-]{0,63}, and must not be note, tag or attachment"
                ))
        }
        return .success(.string(name))
    }

    /// Reads a text of an app's own object.
    public static func text(named name: String, _ json: JSON) -> Outcome {
        Name.isValid(name) ? text(json) : .failure(invalidName)
    }

    /// Reads the attachment that an app's own object has under a name: an ID, or null for none.
    public static func file(named name: String, _ json: JSON) -> Outcome {
        guard Name.isValid(name) else { return .failure(invalidName) }
        if case .null = json { return .success(.null) }
        guard case .string(let text) = json, let id = UniqueID(text) else {
            return .failure(FieldError("must be the ID of an attachment or null"))
        }
        return .success(.string(id.description))
    }

    private static let invalidName = FieldError("must have a name that matches [A-Za-z][A-Za-z0-9_.-]{0,63}")

    /// Reads the value of an attribute that an app defines.
    public static func custom(named name: String, _ json: JSON) -> Outcome {
        guard Name.isValid(name) else { return .failure(invalidName) }
        guard let value = Value(scalar: json) else {
            return .failure(FieldError("must be a string, number, boolean or null, not \(json.kind)"))
        }
        // The reader returns a whole number as a double only if it is outside ±(2^53 - 1), where a double is not exact.
        if case .number(let number) = value, number.rounded() == number {
            return .failure(
                FieldError("must be within ±(2^53 - 1) if it is a whole number", limit: Int(Limits.integer)))
        }
        if case .string(let text) = value {
            if PlainBytes.containsNUL(text) {
                return .failure(FieldError("must not contain the character U+0000"))
            }
            // In JSON, each byte of a string takes at most six bytes. A string of up to a sixth of the limit therefore fits, and
            // only longer strings must be measured as JSON.
            if text.utf8.count > Limits.attributeValueBytes / 6, json.bytes.count > Limits.attributeValueBytes {
                let limit = Limits.attributeValueBytes
                return .failure(FieldError("must have at most \(limit) bytes of JSON", limit: limit))
            }
        }
        return .success(value)
    }

    public static func mimeType(_ json: JSON) -> Outcome {
        guard case .string(let text) = json, text.utf8.count <= 127, isMIMEType(text) else {
            return .failure(FieldError("must be a media type such as image/jpeg"))
        }
        return .success(.string(text))
    }

    public static func filename(_ json: JSON) -> Outcome { string(json, atMost: Limits.filenameBytes) }

    public static func preview(_ json: JSON) -> Outcome {
        let outcome = string(json, atMost: Limits.previewBytes)
        if case .success(.string(let text)) = outcome, !isBase64(text) {
            return .failure(FieldError("must be an image in Base64"))
        }
        return outcome
    }

    /// Reads a size in pixels or bytes: a whole number that is not negative.
    public static func size(_ json: JSON) -> Outcome {
        guard case .integer(let value) = json, value >= 0 else {
            return .failure(FieldError("must be a whole number from 0 to \(Limits.integer)"))
        }
        return .success(.integer(value))
    }

    public static func sha256(_ json: JSON) -> Outcome {
        guard case .string(let text) = json, text.utf8.count == 64, text.utf8.allSatisfy({ Hex.value($0) != nil })
        else {
            return .failure(FieldError("must be a SHA-256 hash in 64 hex digits"))
        }
        return .success(.string(text.lowercased()))
    }

    // MARK: Kinds of strings

    private static func string(_ json: JSON, atMost limit: Int) -> Outcome {
        guard case .string(let text) = json else { return .failure(FieldError("must be a string, not \(json.kind)")) }
        guard text.utf8.count <= limit else {
            return .failure(
                FieldError("must have at most \(limit) bytes of UTF-8, not \(text.utf8.count)", limit: limit))
        }
        guard !PlainBytes.containsNUL(text) else {
            return .failure(FieldError("must not contain the character U+0000"))
        }
        return .success(.string(text))
    }

    private static func isMIMEType(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        // The characters that a restricted name may contain in addition to letters and digits (RFC 6838, 4.2).
        let others = Array("!#$&-^_.+".utf8)
        return parts.count == 2
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.allSatisfy {
                        (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
                            || others.contains($0)
                    }
            }
    }

    private static func isBase64(_ text: String) -> Bool {
        let body = text.utf8
        let digits = body.prefix { $0 != UInt8(ascii: "=") }
        let padding = body.count - digits.count
        return body.count % 4 == 0 && padding <= 2
            && body.suffix(padding).allSatisfy { $0 == UInt8(ascii: "=") }
            && digits.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
                    || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/")
            }
    }
}
