/// Why a field cannot have the value that was sent: the end of a sentence that begins with its name.
public struct FieldError: Error {
    public let what: String
    public let limit: Int?

    init(_ what: String, limit: Int? = nil) {
        self.what = what
        self.limit = limit
    }
}

/// Turns JSON into the values of fields, one check a kind of field.
public enum FieldValue {
    public typealias Outcome = Result<Value, FieldError>

    /// The text of a note.
    public static func text(_ json: JSON) -> Outcome { string(json, atMost: Limits.textBytes) }

    public static func bool(_ json: JSON) -> Outcome {
        guard case .bool(let value) = json else { return .failure(FieldError("is true or false, not \(json.kind)")) }
        return .success(.bool(value))
    }

    public static func date(_ json: JSON) -> Outcome {
        guard case .string(let text) = json, let date = Timestamp(text) else {
            return .failure(
                FieldError("is a date such as 2026-11-21T08:47:12.345Z (RFC 3339), in the years 0001 to 9999"))
        }
        return .success(.date(date))
    }

    /// The name of a tag.
    public static func tagName(_ json: JSON) -> Outcome {
        let outcome = string(json, atMost: Limits.tagNameBytes)
        if case .success(.string(let name)) = outcome, TagName.fold(name).isEmpty {
            return .failure(FieldError("is empty"))
        }
        return outcome
    }

    /// The type of an app's own object.
    public static func objectType(_ json: JSON) -> Outcome {
        guard case .string(let name) = json, let type = ObjectType(name), type.isAppDefined else {
            return .failure(
                FieldError(
                    "is a type that your app made up, matching [A-Za-z][A-Za-z0-9_.-]{0,63}, not note, tag or attachment"
                ))
        }
        return .success(.string(name))
    }

    /// An attribute that an app made up.
    public static func custom(named name: String, _ json: JSON) -> Outcome {
        guard Name.isValid(name) else {
            return .failure(FieldError("the name of an attribute matches [A-Za-z][A-Za-z0-9_.-]{0,63}"))
        }
        guard let value = Value(scalar: json) else {
            return .failure(FieldError("an attribute is a string, number, boolean or null, not \(json.kind)"))
        }
        // A whole number that a double cannot hold exactly would come back as another.
        if case .number(let number) = value, number.rounded() == number {
            return .failure(FieldError("a whole number lies within ±(2^53 - 1)", limit: Int(Limits.integer)))
        }
        if case .string(let text) = value {
            if PlainBytes.holdsNUL(text) {
                return .failure(FieldError("an attribute cannot hold the character U+0000"))
            }
            // Only strings can be long, and only long ones need to be measured.
            if text.utf8.count > Limits.attributeValueBytes / 6, json.bytes.count > Limits.attributeValueBytes {
                let limit = Limits.attributeValueBytes
                return .failure(FieldError("an attribute has at most \(limit) bytes", limit: limit))
            }
        }
        return .success(value)
    }

    public static func mimeType(_ json: JSON) -> Outcome {
        guard case .string(let text) = json, text.utf8.count <= 127, isMIMEType(text) else {
            return .failure(FieldError("is a media type such as image/jpeg"))
        }
        return .success(.string(text))
    }

    public static func filename(_ json: JSON) -> Outcome { string(json, atMost: Limits.filenameBytes) }

    public static func preview(_ json: JSON) -> Outcome {
        let outcome = string(json, atMost: Limits.previewBytes)
        if case .success(.string(let text)) = outcome, !isBase64(text) {
            return .failure(FieldError("is a tiny image in base64"))
        }
        return outcome
    }

    /// Pixels, or bytes: a whole number that is not negative.
    public static func size(_ json: JSON) -> Outcome {
        guard case .integer(let value) = json, value >= 0 else {
            return .failure(FieldError("is a whole number from 0 to \(Limits.integer)"))
        }
        return .success(.integer(value))
    }

    public static func sha256(_ json: JSON) -> Outcome {
        guard case .string(let text) = json, text.utf8.count == 64, text.utf8.allSatisfy({ Hex.value($0) != nil })
        else {
            return .failure(FieldError("is a SHA-256 in 64 hex digits"))
        }
        return .success(.string(text.lowercased()))
    }

    // MARK: Kinds of strings

    private static func string(_ json: JSON, atMost limit: Int) -> Outcome {
        guard case .string(let text) = json else { return .failure(FieldError("is a string, not \(json.kind)")) }
        guard text.utf8.count <= limit else {
            return .failure(FieldError("has at most \(limit) bytes of UTF-8, not \(text.utf8.count)", limit: limit))
        }
        guard !PlainBytes.holdsNUL(text) else { return .failure(FieldError("cannot hold the character U+0000")) }
        return .success(.string(text))
    }

    private static func isMIMEType(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        // The characters of a restricted name (RFC 6838, 4.2).
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
