internal import Foundation
internal import HesperModel

/// Converts scalars of Swift to values of registers and back. Enums and other types are converted through `Codable`.
enum ScalarCoder {
    /// The error if a value is not a scalar or does not have the expected type.
    struct Refused: Error {}

    /// Converts a scalar to the value of a register.
    /// - Throws: ``Refused`` if `scalar` cannot be stored in one register; ``StoreError/invalidValue(_:)`` if it is out of range.
    static func value<T: Encodable>(_ scalar: T) throws -> Value {
        switch scalar {
        case let text as String: return .string(text)
        case let flag as Bool: return .bool(flag)
        case let number as any BinaryInteger: return try integer(number)
        case let number as Double: return try ScalarCoder.number(number)
        case let number as Float: return try ScalarCoder.number(Double(number))
        case let date as Date: return try .string(timestamp(date).description)
        case let uuid as UUID: return .string(uuid.uuidString.lowercased())
        case let url as URL: return .string(url.absoluteString)
        default:
            let encoder = ScalarEncoder()
            try scalar.encode(to: encoder)
            guard let value = encoder.box.value else { throw Refused() }
            return value
        }
    }

    /// Converts a scalar of a common type to the value of a register; returns nil for all other types. It avoids the casts of
    /// ``value(_:)``, which are slow.
    static func common<T>(_ scalar: T) throws -> Value? {
        if T.self == String.self, let text = scalar as? String { return .string(text) }
        if T.self == Bool.self, let flag = scalar as? Bool { return .bool(flag) }
        if T.self == Int.self, let number = scalar as? Int { return try integer(number) }
        return nil
    }

    private static func integer(_ number: some BinaryInteger) throws -> Value {
        guard let integer = Int64(exactly: number), integer.magnitude <= Limits.integer.magnitude else {
            throw StoreError.invalidValue("A whole number must be within ±(2^53 - 1).")
        }
        return .integer(integer)
    }

    private static func number(_ number: Double) throws -> Value {
        guard number.isFinite else { throw StoreError.invalidValue("A number must be finite.") }
        if number.rounded() == number { return try integer(Int64(exactly: number) ?? .max) }
        return .number(number)
    }

    private static func timestamp(_ date: Date) throws -> Timestamp {
        let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
        guard let exact = Int64(exactly: milliseconds), let timestamp = Timestamp(milliseconds: exact) else {
            throw StoreError.invalidValue("A date must be in the years 1 to 9999.")
        }
        return timestamp
    }

    /// Converts the value of a register to a scalar of a common type; returns nil for all other types. It avoids the casts of
    /// ``decode(_:_:)``.
    static func common<T>(_ type: T.Type, _ value: Value) -> T? {
        switch value {
        case .string(let text): type == String.self ? text as? T : nil
        case .bool(let flag): type == Bool.self ? flag as? T : nil
        case .integer(let number): type == Int.self ? Int(number) as? T : nil
        case .null, .number, .date: nil
        }
    }

    /// Converts the value of a register to a scalar of a type.
    static func decode<T: Decodable>(_ type: T.Type, _ value: Value) throws -> T {
        guard let scalar = try scalar(type, value) as? T else { throw Refused() }
        return scalar
    }

    private static func scalar<T: Decodable>(_ type: T.Type, _ value: Value) throws -> Any? {
        if type == String.self {
            if case .string(let text) = value { return text }
        } else if type == Bool.self {
            if case .bool(let flag) = value { return flag }
        } else if type == Double.self || type == Float.self {
            let number: Double? =
                switch value {
                case .integer(let number): Double(number)
                case .number(let number): number
                case .null, .bool, .string, .date: nil
                }
            guard let number else { return nil }
            return type == Float.self ? Float(number) : number
        } else if let type = type as? any BinaryInteger.Type {
            if case .integer(let number) = value { return ScalarCoder.exactly(type, number) }
        } else if type == Date.self {
            if let date = value.timestamp { return Date(timeIntervalSince1970: Double(date.milliseconds) / 1_000) }
        } else if type == UUID.self {
            if case .string(let text) = value { return UUID(uuidString: text) }
        } else if type == URL.self {
            if case .string(let text) = value { return URL(string: text) }
        } else {
            return try T(from: ScalarDecoder(value: value))
        }
        return nil
    }

    private static func exactly<T: BinaryInteger>(_ type: T.Type, _ number: Int64) -> Any? { T(exactly: number) }
}

extension Value {
    /// The date that the value represents; nil if it represents none.
    fileprivate var timestamp: Timestamp? {
        switch self {
        case .string(let text): Timestamp(text)
        case .date(let date): date
        case .null, .bool, .integer, .number: nil
        }
    }
}

private struct ScalarDecoder: Decoder, SingleValueDecodingContainer {
    let value: Value
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw ScalarCoder.Refused()
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw ScalarCoder.Refused() }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { value == .null }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try ScalarCoder.decode(type, value) }
}

private struct ScalarEncoder: Encoder, SingleValueEncodingContainer {
    final class Box { var value: Value? }

    let box = Box()
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RefusingKeyedContainer())
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer() }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }
    func encodeNil() { box.value = .null }
    func encode<T: Encodable>(_ value: T) throws { box.value = try ScalarCoder.value(value) }
}
