import HesperModel

/// Reads a JSON object with a fixed set of fields. Errors name the field that is invalid or unknown.
///
///     var fields = try Fields(json)
///     let email = try fields.string("email", bytes: 3...254)
///     try fields.end()
struct Fields {
    private let object: JSONObject
    private let pointer: String
    private var read: [String] = []

    /// Begins to read an object.
    /// - Parameter pointer: the position of the object in the request, as a JSON Pointer.
    /// - Throws: `invalid-field` if the value is not an object.
    init(_ json: JSON, at pointer: String = "") throws(Problem) {
        guard case .object(let object) = json else {
            throw Problem(.invalidField, "This value must be an object, not \(json.kind).", at: pointer)
        }
        self.object = object
        self.pointer = pointer
    }

    /// The value of a field; nil if the object does not have the field.
    mutating func value(_ name: String) -> JSON? {
        read.append(name)
        return object[name]
    }

    /// The value of an optional string field; nil if the object does not have the field.
    /// - Parameters:
    ///   - characters: the allowed number of Unicode scalars, which JSON Schema calls characters. Nil for any number.
    ///   - bytes: the allowed number of bytes in UTF-8. Nil for any number.
    mutating func optionalString(
        _ name: String, characters: ClosedRange<Int>? = nil, bytes: ClosedRange<Int>? = nil
    ) throws(Problem) -> String? {
        guard let json = value(name) else { return nil }
        guard case .string(let text) = json else { throw invalid(name, "must be a string, not \(json.kind)") }
        if let characters, !characters.contains(text.unicodeScalars.count) {
            throw invalid(name, "must have \(characters.words) characters", limit: characters.upperBound)
        }
        if let bytes, !bytes.contains(text.utf8.count) {
            throw invalid(name, "must have \(bytes.words) bytes in UTF-8", limit: bytes.upperBound)
        }
        guard !text.utf8.contains(0) else { throw invalid(name, "must not contain NUL") }
        return text
    }

    /// The value of a required string field. The parameters are those of ``optionalString(_:characters:bytes:)``.
    mutating func string(
        _ name: String, characters: ClosedRange<Int>? = nil, bytes: ClosedRange<Int>? = nil
    ) throws(Problem) -> String {
        guard let text = try optionalString(name, characters: characters, bytes: bytes) else {
            throw invalid(name, "is missing")
        }
        return text
    }

    /// The value of an optional Boolean field; nil if the object does not have the field.
    mutating func optionalBool(_ name: String) throws(Problem) -> Bool? {
        guard let json = value(name) else { return nil }
        guard case .bool(let value) = json else { throw invalid(name, "must be true or false, not \(json.kind)") }
        return value
    }

    /// Checks that all fields of the object were read. Must be called after the last field was read.
    /// - Throws: `unknown-field` for the first field that was not read.
    func end() throws(Problem) {
        guard let member = object.members.first(where: { !read.contains($0.name) }) else { return }
        throw Problem(
            .unknownField,
            "The field \"\(member.name.prefix(64))\" is unknown. Known fields: \(read.joined(separator: ", ")).",
            at: self.pointer(to: member.name))
    }

    func invalid(_ name: String, _ what: String, limit: Int? = nil) -> Problem {
        let context: [String: JSON] = limit.map { ["limit": .integer(Int64($0))] } ?? [:]
        return Problem(.invalidField, "\(name) \(what).", at: self.pointer(to: name), context: context)
    }

    private func pointer(to name: String) -> String {
        // A JSON Pointer contains `~0` for `~` and `~1` for `/` (RFC 6901).
        pointer + "/"
            + name.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
    }
}

extension ClosedRange<Int> {
    /// The range as text for an error message: "8 to 1024" or "at most 1024".
    fileprivate var words: String { lowerBound == 0 ? "at most \(upperBound)" : "\(lowerBound) to \(upperBound)" }
}
