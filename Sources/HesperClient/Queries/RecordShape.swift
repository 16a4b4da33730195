internal import Foundation
internal import HesperModel

/// Finds the name of a record's property for a key path.
///
/// A key path does not contain the name of its property. Therefore this type makes one record for each property. In that record,
/// only that property has a value other than its default. To find the name for a key path, the key path is applied to each of these
/// records and to the default record. If the two values differ, the key path leads to the property for which the record was made.
struct RecordShape<Record: MergedRecord>: Sendable {
    private let base: Record
    private let variants: [(name: String, record: Record)]
    /// The names of the properties for which no record could be made, because no value other than the default is known. Their types
    /// are enums that are not `CaseIterable`.
    let unnamed: [String]

    static var shared: RecordShape {
        let key = ObjectIdentifier(Record.self)
        if let shape = recordShapes.withLock({ $0[key] }) as? RecordShape { return shape }
        let shape = RecordShape()
        recordShapes.withLock { $0[key] = shape }
        return shape
    }

    private init() {
        base = Record()
        var variants: [(name: String, record: Record)] = []
        var unnamed: [String] = []
        if let writer = try? ImageWriter(record: base) {
            let defaults = writer.values
            for property in writer.properties where property.kind != .record {
                // The properties of a nested record are listed under the name of the nested record.
                let owner = writer.properties.first { $0.kind == .record && property.name.hasPrefix($0.name + ".") }
                let name = String((owner ?? property).name.dropFirst(ImageWriter.recordName.count + 1))
                let record = RecordShape.alternatives(property, defaults[property.name]).lazy
                    .compactMap { RecordShape.record(defaults, property.name + $0.suffix, $0.value) }
                    .first { [base] in $0 != base }
                if let record { variants.append((name, record)) } else { unnamed.append(name) }
            }
        }
        self.variants = variants
        self.unnamed = unnamed.filter { name in !variants.contains { $0.name == name } }
    }

    /// The name of the property to which a key path leads; nil if it cannot be found.
    func name<Leaf: MergedValue>(of path: KeyPath<Record, Leaf>) -> String? {
        let standing = base[keyPath: path]
        for (name, record) in variants where record[keyPath: path] != standing { return name }
        return unnamed.count == 1 ? unnamed[0] : nil
    }

    /// Makes a record in which only the named property may differ from its default; nil if the property cannot have this value.
    private static func record(_ defaults: [String: Value], _ name: String, _ value: Value) -> Record? {
        let image = ObjectImage(id: UniqueID(high: 0, low: 0), values: [name: value])
        let reader = ImageReader(image, AttributeNames(""), defaults) { $0 }
        return try? Record(from: ImageDecoder(reader, ImageWriter.recordName))
    }

    /// Values of several types that differ from the default of a property. The caller uses the first one that fits the type of the
    /// property.
    private static func alternatives(
        _ property: ImageWriter.Property, _ standing: Value?
    ) -> [(suffix: String, value: Value)] {
        let id = "7c3e1c52-8f0a-4f57-9f0e-2d8b5a1c6e94"
        switch property.kind {
        case .record, .text, .file: return []
        case .counter: return [(".0000000000000001", .integer(1))]
        case .set: return [(".\(id)", .bool(true)), (".1", .bool(true))] + setAlternatives
        case .scalar:
            var values: [Value] = [
                .null, .bool(true), .bool(false), .integer(1), .integer(2), .number(0.5), .string("x"), .string("y"),
                .string(id), .string("2001-01-01T00:00:00.000Z"), .string("https://example.org/x"),
            ]
            let wrapped = (property.type as? any OptionalScalar.Type)?.wrapped ?? property.type
            if let type = wrapped as? any CaseIterable.Type { values += allValues(type) }
            return values.filter { $0 != standing }.map { ("", $0) }
        }
    }

    private static var setAlternatives: [(suffix: String, value: Value)] {
        ["x", "y"].compactMap { text in
            (try? ElementRegister(text)).map { (".\($0.key)", $0.inside) }
        }
    }

    private static func allValues<Cases: CaseIterable>(_ type: Cases.Type) -> [Value] {
        type.allCases.compactMap { ($0 as? any Encodable).flatMap { try? ScalarCoder.value($0) } }
    }
}

private let recordShapes = Locked<[ObjectIdentifier: any Sendable]>([:])

extension MergedRecord {
    /// The names of the properties that ``RecordShape`` cannot recognize by a value. Their types are enums that are not
    /// `CaseIterable`. If there is exactly one such property, predicates can refer to it: a key path that leads to none of the
    /// recognized properties leads to it.
    static var unnamedProperties: [String] { RecordShape<Self>.shared.unnamed }
}

private protocol OptionalScalar {
    static var wrapped: Any.Type { get }
}

extension Optional: OptionalScalar {
    fileprivate static var wrapped: Any.Type { Wrapped.self }
}
