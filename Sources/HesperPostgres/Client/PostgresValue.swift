import HesperModel
import HesperStore

/// An argument of a statement. It is sent in the binary format of its type. PostgreSQL infers the type of `null` from the
/// statement.
enum PostgresValue: Sendable, Equatable {
    case null
    case int8(Int64)
    case int4(Int32)
    case int2(Int16)
    case bool(Bool)
    case text(String)
    /// A text as UTF-8 bytes.
    case utf8([UInt8])
    /// A JSON document, as UTF-8 bytes.
    case json([UInt8])
    case bytes([UInt8])
    /// A clock or a digest, sent as a `bytea` of 16 bytes, most significant byte first.
    case pair(UInt64, UInt64)
    /// A node, sent as a `bytea` of 8 bytes, most significant byte first.
    case word(UInt64)
    case uuid(UniqueID)
    case date(Timestamp)
    /// A one-dimensional array whose elements have the given type or are null.
    case array(PostgresType, [PostgresValue])

    /// The OID of the value's type; nil for `null`.
    var type: UInt32? {
        switch self {
        case .null: nil
        case .int8: PostgresType.int8.rawValue
        case .int4: PostgresType.int4.rawValue
        case .int2: PostgresType.int2.rawValue
        case .bool: PostgresType.bool.rawValue
        case .text, .utf8: PostgresType.text.rawValue
        case .json: PostgresType.json.rawValue
        case .bytes, .pair, .word: PostgresType.bytes.rawValue
        case .uuid: PostgresType.uuid.rawValue
        case .date: PostgresType.date.rawValue
        case .array(let element, _): element.array
        }
    }
}

extension PostgresValue {
    static func int(_ value: Int) -> PostgresValue { .int8(Int64(value)) }
    static func id(_ value: UniqueID) -> PostgresValue { .uuid(value) }
    static func scope(_ value: ScopeID) -> PostgresValue { .int8(value.rawValue) }
    static func clock(_ value: Clock) -> PostgresValue { .pair(value.time, value.node.rawValue) }
    static func node(_ value: NodeID) -> PostgresValue { .word(value.rawValue) }
    static func digest(_ value: Digest) -> PostgresValue { .pair(value.high, value.low) }
    static func token(_ value: TokenHash) -> PostgresValue { .bytes(value.bytes) }

    static func int8(_ value: Int64?) -> PostgresValue { value.map { .int8($0) } ?? .null }
    static func int(_ value: Int?) -> PostgresValue { value.map { .int($0) } ?? .null }
    static func text(_ value: String?) -> PostgresValue { value.map { .text($0) } ?? .null }
    static func id(_ value: UniqueID?) -> PostgresValue { value.map { .uuid($0) } ?? .null }
    static func clock(_ value: Clock?) -> PostgresValue { value.map { .clock($0) } ?? .null }
    static func node(_ value: NodeID?) -> PostgresValue { value.map { .node($0) } ?? .null }
    static func date(_ value: Timestamp?) -> PostgresValue { value.map { .date($0) } ?? .null }

    static func int8Array(_ values: [Int64]) -> PostgresValue { .array(.int8, values.map { .int8($0) }) }
    static func uuidArray(_ values: [UniqueID]) -> PostgresValue { .array(.uuid, values.map { .uuid($0) }) }
    static func textArray(_ values: [String]) -> PostgresValue { .array(.text, values.map { .text($0) }) }
    static func bytesArray(_ values: [[UInt8]]) -> PostgresValue { .array(.bytes, values.map { .bytes($0) }) }
}

extension PostgresValue {
    /// The size of the binary form in bytes, without a length prefix.
    var byteCount: Int {
        switch self {
        case .null: 0
        case .int8, .word, .date: 8
        case .int4: 4
        case .int2: 2
        case .bool: 1
        case .text(let value): value.utf8.count
        case .utf8(let value), .json(let value), .bytes(let value): value.count
        case .pair, .uuid: 16
        case .array(_, let values): values.reduce(values.isEmpty ? 12 : 20) { $0 + 4 + $1.byteCount }
        }
    }

    /// Appends the value in PostgreSQL's binary format, without its length. The caller must append the length first. Appends
    /// nothing for null.
    /// - Throws: ``PostgresError/misuse(_:)`` if an element of an array is too long for its 4-byte length field.
    func append(to bytes: inout [UInt8]) throws(PostgresError) {
        switch self {
        case .null: break
        case .int8(let value): bytes.append(bigEndian: value)
        case .int4(let value): bytes.append(bigEndian: value)
        case .int2(let value): bytes.append(bigEndian: value)
        case .bool(let value): bytes.append(value ? 1 : 0)
        case .text(let value): bytes.append(contentsOf: value.utf8)
        case .utf8(let value), .json(let value), .bytes(let value): bytes.append(contentsOf: value)
        case .pair(let high, let low):
            bytes.append(bigEndian: high)
            bytes.append(bigEndian: low)
        case .word(let value): bytes.append(bigEndian: value)
        case .uuid(let value):
            bytes.append(bigEndian: value.high)
            bytes.append(bigEndian: value.low)
        case .date(let value): bytes.append(bigEndian: PostgresDate.microseconds(value.milliseconds))
        case .array(let element, let values): try PostgresValue.append(values, of: element, to: &bytes)
        }
    }

    /// Appends an array in PostgreSQL's binary format (PostgreSQL, array_send): the number of dimensions, whether there are
    /// nulls, the type of the elements, the length and the lower bound of the dimension, and then the elements.
    private static func append(
        _ values: [PostgresValue], of element: PostgresType, to bytes: inout [UInt8]
    ) throws(PostgresError) {
        bytes.append(bigEndian: Int32(values.isEmpty ? 0 : 1))
        bytes.append(bigEndian: Int32(values.contains(.null) ? 1 : 0))
        bytes.append(bigEndian: element.rawValue)
        guard !values.isEmpty else { return }
        bytes.append(bigEndian: Int32(values.count))
        bytes.append(bigEndian: Int32(1))
        for value in values { try value.appendCounted(to: &bytes) }
    }

    /// Appends the length of the binary form, which is -1 for null, and then the binary form. Array elements and the columns of a
    /// COPY have this format.
    /// - Throws: ``PostgresError/misuse(_:)`` if the value is too long for its 4-byte length field.
    func appendCounted(to bytes: inout [UInt8]) throws(PostgresError) {
        let start = bytes.count
        bytes.append(bigEndian: Int32(-1))
        guard self != .null else { return }
        guard let count = Int32(exactly: byteCount) else {
            throw PostgresError.misuse("value too large: \(byteCount) bytes")
        }
        try append(to: &bytes)
        withUnsafeBytes(of: count.bigEndian) { bytes.replaceSubrange(start..<start + 4, with: $0) }
    }
}

extension [UInt8] {
    mutating func append<T: FixedWidthInteger>(bigEndian value: T) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
