import HesperModel

/// Reads a closed JSON object: what is wrong with a field, or not known, is refused by name.
///
///     var fields = try Fields(json)
///     let email = try fields.string("email", bytes: 3...254)
///     try fields.end()
struct Fields {
    private let object: JSONObject
    private let pointer: String
    private var read: [String] = []

    /// - Parameter pointer: where the object stands in the request, as a JSON Pointer.
    init(_ json: JSON, at pointer: String = "") throws(Problem) {
        guard case .object(let object) = json else {
            throw Problem(.invalidField, "This is an object, not \(json.kind).", at: pointer)
        }
        self.object = object
        self.pointer = pointer
    }

    /// A field that may be left out.
    mutating func value(_ name: String) -> JSON? {
        read.append(name)
        return object[name]
    }

    /// A string that may be left out.
    /// - Parameters:
    ///   - characters: how many Unicode scalars it has, as JSON Schema counts them.
    ///   - bytes: how many bytes of UTF-8 it has.
    mutating func optionalString(
        _ name: String, characters: ClosedRange<Int>? = nil, bytes: ClosedRange<Int>? = nil
    ) throws(Problem) -> String? {
        guard let json = value(name) else { return nil }
        guard case .string(let text) = json else { throw invalid(name, "is a string, not \(json.kind)") }
        if let characters, !characters.contains(text.unicodeScalars.count) {
            throw invalid(name, "has \(characters.words) characters", limit: characters.upperBound)
        }
        if let bytes, !bytes.contains(text.utf8.count) {
            throw invalid(name, "has \(bytes.words) bytes in UTF-8", limit: bytes.upperBound)
        }
        guard !text.utf8.contains(0) else { throw invalid(name, "cannot hold NUL") }
        return text
    }

    /// A string that must be there.
    mutating func string(
        _ name: String, characters: ClosedRange<Int>? = nil, bytes: ClosedRange<Int>? = nil
    ) throws(Problem) -> String {
        guard let text = try optionalString(name, characters: characters, bytes: bytes) else {
            throw invalid(name, "is missing")
        }
        return text
    }

    /// True or false, or left out.
    mutating func optionalBool(_ name: String) throws(Problem) -> Bool? {
        guard let json = value(name) else { return nil }
        guard case .bool(let value) = json else { throw invalid(name, "is true or false, not \(json.kind)") }
        return value
    }

    /// - Throws: `unknown-field` about the first field that nobody asked for.
    func end() throws(Problem) {
        guard let member = object.members.first(where: { !read.contains($0.name) }) else { return }
        throw Problem(
            .unknownField,
            "There is no field \"\(member.name.prefix(64))\" here; known are \(read.joined(separator: ", ")).",
            at: place(member.name))
    }

    func invalid(_ name: String, _ what: String, limit: Int? = nil) -> Problem {
        let context: [String: JSON] = limit.map { ["limit": .integer(Int64($0))] } ?? [:]
        return Problem(.invalidField, "\(name) \(what).", at: place(name), context: context)
    }

    private func place(_ name: String) -> String {
        // The two escapes of RFC 6901.
        pointer + "/"
            + name.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
    }
}

extension ClosedRange<Int> {
    /// For a sentence: "8 to 1024".
    fileprivate var words: String { lowerBound == 0 ? "at most \(upperBound)" : "\(lowerBound) to \(upperBound)" }
}
