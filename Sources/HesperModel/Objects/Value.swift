/// The value of an attribute: a JSON scalar or a date.
///
/// Two strings are equal only if their bytes are equal, because a text must be returned exactly as it was sent. Swift's `==` for
/// strings would consider "é" equal to "e" with a combining accent.
public enum Value: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case date(Timestamp)

    /// The type of a value.
    public enum Kind: Sendable { case null, bool, integer, number, string, date }

    public var kind: Kind {
        switch self {
        case .null: .null
        case .bool: .bool
        case .integer: .integer
        case .number: .number
        case .string: .string
        case .date: .date
        }
    }

    public var json: JSON {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .integer(let value): .integer(value)
        case .number(let value): .number(value)
        case .string(let value): .string(value)
        case .date(let value): .string(value.description)
        }
    }

    /// The length of a string in bytes of UTF-8; 8 for other values.
    public var byteCount: Int { if case .string(let value) = self { value.utf8.count } else { 8 } }

    /// Whether this value is less than `other`. Strings are compared with strings, and dates with dates. False in all other cases.
    func isLess(than other: Value) -> Bool {
        switch (self, other) {
        case (.string(let left), .string(let right)): left < right
        case (.date(let left), .date(let right)): left < right
        default: false
        }
    }

    /// Creates a value from a JSON scalar; nil for arrays and objects.
    public init?(scalar json: JSON) {
        switch json {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .number(let value): self = .number(value)
        case .string(let value): self = .string(value)
        case .array, .object: return nil
        }
    }
}

extension Value: Equatable {
    public static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.isIdentical(to: right)
        case (.date(let left), .date(let right)): left == right
        default: false
        }
    }
}

extension String {
    /// Whether both strings have the same UTF-8 bytes. They are compared in words of eight bytes, because texts may be long.
    package func isIdentical(to other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        var (left, right) = (self, other)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                let (words, otherWords) = (UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
                var index = 0
                while index + 8 <= words.count {
                    let word = words.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    guard word == otherWords.loadUnaligned(fromByteOffset: index, as: UInt64.self) else { return false }
                    index += 8
                }
                return left[index...].elementsEqual(right[index...])
            }
        }
    }
}

extension JSONWriter {
    mutating func member(_ name: String, _ value: Value) {
        self.name(name)
        switch value {
        case .null: write(.null)
        case .bool(let value): bool(value)
        case .integer(let value): integer(value)
        case .number(let value): write(.number(value))
        case .string(let value): string(value)
        case .date(let value): date(value)
        }
    }
}
