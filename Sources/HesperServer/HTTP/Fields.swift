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

    /// - Parameter pointer: the position of the object in the request, as a JSON Pointer.
    init(_ json: JSON, at pointer: String = "") throws(Problem) {
        guard case .object(let object) = json else {
            throw Problem(.invalidField, "This value must be an object, not \(json.kind).", at: pointer)
        }
        self.object = object
        self.pointer = pointer
    }

    /// The value of an optional field.
    mutating func value(_ name: String) -> JSON? {
        read.append(name)
        return object[name]
    }

    /// An optional string.
    /// - Parameters:
    ///   - characters: the allowed length in Unicode scalars, as in JSON Schema.
    ///   - bytes: the allowed length in bytes of UTF-8.
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

    /// A required string.
    mutating func string(
        _ name: String, characters: ClosedRange<Int>? = nil, bytes: ClosedRange<Int>? = nil
    ) throws(Problem) -> String {
        guard let text = try optionalString(name, characters: characters, bytes: bytes) else {
            throw invalid(name, "is missing")
        }
        return text
    }

    /// An optional Boolean.
    mutating func optionalBool(_ name: String) throws(Problem) -> Bool? {
        guard let json = value(name) else { return nil }
        guard case .bool(let value) = json else { throw invalid(name, "must be true or false, not \(json.kind)") }
        return value
    }

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
        // The two escapes of RFC 6901.
        pointer + "/"
            + name.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
    }
}

extension ClosedRange<Int> {
    /// For an error message: "8 to 1024".
    fileprivate var words: String { lowerBound == 0 ? "at most \(upperBound)" : "\(lowerBound) to \(upperBound)" }
}
