import Foundation
import Testing

@testable import HesperModel

/// A case of a file in Tests/Vectors, parsed with the model's own reader. Its fields determine its kind.
struct VectorCase: CustomTestStringConvertible, Sendable {
    /// A case lacks a field, or the field has another type.
    struct Malformed: Error {
        let field: String
        let value: JSON?
    }

    let object: JSONObject

    var testDescription: String { (try? string("name")) ?? "a case without a name" }

    static func load(_ file: String) throws -> [VectorCase] {
        let json = try JSONReader.read(
            Array(Data(contentsOf: Folders.package.appending(path: "Tests/Vectors/\(file)"))))
        guard case .array(let cases) = json else { throw Malformed(field: file, value: json) }
        return try cases.map { try VectorCase(json: $0) }
    }

    init(json: JSON) throws {
        guard case .object(let object) = json else { throw Malformed(field: "", value: json) }
        self.object = object
    }

    func has(_ field: String) -> Bool { object[field] != nil }

    func string(_ field: String) throws -> String {
        guard case .string(let value)? = object[field] else { throw Malformed(field: field, value: object[field]) }
        return value
    }

    func integer(_ field: String) throws -> Int64 {
        guard case .integer(let value)? = object[field] else { throw Malformed(field: field, value: object[field]) }
        return value
    }

    func bool(_ field: String) throws -> Bool {
        guard case .bool(let value)? = object[field] else { throw Malformed(field: field, value: object[field]) }
        return value
    }

    /// The elements of an array; empty if the field is absent.
    func elements(_ field: String) throws -> [JSON] {
        switch object[field] {
        case nil: return []
        case .array(let elements)?: return elements
        case let other: throw Malformed(field: field, value: other)
        }
    }

    func strings(_ field: String) throws -> [String] {
        try elements(field).map { json in
            guard case .string(let value) = json else { throw Malformed(field: field, value: json) }
            return value
        }
    }

    func cases(_ field: String) throws -> [VectorCase] { try elements(field).map { try VectorCase(json: $0) } }

    /// A value with a text form, such as a clock, a date or an ID; nil if the field is absent.
    func optional<Value: LosslessStringConvertible>(_ field: String, as type: Value.Type = Value.self) throws -> Value?
    {
        guard has(field) else { return nil }
        guard let value = Value(try string(field)) else { throw Malformed(field: field, value: object[field]) }
        return value
    }

    func value<Value: LosslessStringConvertible>(_ field: String, as type: Value.Type = Value.self) throws -> Value {
        guard let value: Value = try optional(field) else { throw Malformed(field: field, value: nil) }
        return value
    }

    /// Bytes in hex.
    func bytes(_ field: String) throws -> [UInt8] {
        let digits = Array(try string(field).utf8)
        return try stride(from: 0, to: digits.count, by: 2).map { index in
            guard index + 1 < digits.count, let high = Hex.value(digits[index]), let low = Hex.value(digits[index + 1])
            else { throw Malformed(field: field, value: object[field]) }
            return high << 4 | low
        }
    }
}

extension JSON {
    /// The JSON with the members of all objects sorted by name, to compare values regardless of member order.
    var sorted: String { String(decoding: inOrder.bytes, as: UTF8.self) }

    private var inOrder: JSON {
        switch self {
        case .array(let elements): .array(elements.map(\.inOrder))
        case .object(let object):
            .object(
                JSONObject(
                    object.members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
                        .map { ($0.name, $0.value.inOrder) }))
        default: self
        }
    }
}
