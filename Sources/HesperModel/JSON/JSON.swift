/// A JSON value. Whole numbers within ±(2^53-1) are integers, and all other numbers are doubles.
public enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSON])
    case object(JSONObject)

    /// The value's type in the words of RFC 8259, for error messages.
    public var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// The members of a JSON object, in their original order. Names are unique.
public struct JSONObject: Sendable, Equatable {
    public var members: [Member]

    public struct Member: Sendable, Equatable {
        public var name: String
        public var value: JSON
    }

    public init(_ members: [(String, JSON)] = []) {
        self.members = members.map { Member(name: $0.0, value: $0.1) }
    }

    public init(members: [Member]) { self.members = members }

    public subscript(name: String) -> JSON? {
        members.first { $0.name == name }?.value
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSON)...) { self = .object(JSONObject(elements)) }
    public init(nilLiteral: ()) { self = .null }
}

extension JSON {
    /// The value as JSON text in UTF-8, without white space.
    public var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.write(self)
        return writer.bytes
    }
}
