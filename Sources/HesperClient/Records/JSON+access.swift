package import HesperModel

/// Reads members and values of JSON. If a value is missing or of another type, the result is nil or an empty list.
extension JSON {
    package subscript(name: String) -> JSON? {
        if case .object(let object) = self { object[name] } else { nil }
    }

    package var string: String? { if case .string(let value) = self { value } else { nil } }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    package var elements: [JSON] { if case .array(let elements) = self { elements } else { [] } }
    package var members: [JSONObject.Member] { if case .object(let object) = self { object.members } else { [] } }
    package var clock: Clock? { string.flatMap(Clock.init) }
    package var id: UniqueID? { string.flatMap(UniqueID.init) }
    var clocks: [Clock] { elements.compactMap(\.clock) }

    init(clocks: [Clock]) { self = .array(clocks.map { .string($0.description) }) }

    /// Creates a JSON object. Members that are nil or null are left out.
    package init(members: [(String, JSON?)]) {
        // Null is left out too, because `nil` in an expression such as `flag ? true : nil` is the value null of `JSON`.
        self = .object(
            JSONObject(members.compactMap { name, value in value.flatMap { $0 == .null ? Optional.none : (name, $0) } })
        )
    }

    /// This JSON object with further members. Members that are nil or null are left out.
    func adding(_ members: [(String, JSON?)]) -> JSON {
        .object(JSONObject(members: self.members + JSON(members: members).members))
    }

    /// Reads JSON that this library wrote or the server sent.
    package init(text: String) throws(Problem) {
        var text = text
        let result: Result<JSON, Problem> = text.withUTF8 { bytes in
            Result { () throws(Problem) in try JSONReader.read(UnsafeRawBufferPointer(bytes)) }
        }
        self = try result.get()
    }
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Returns the text of a JSON object. `body` writes the members of the object.
    static func text(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter(capacity: 256)
        writer.object(body)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
