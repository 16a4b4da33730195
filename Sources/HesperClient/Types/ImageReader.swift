internal import HesperModel

/// A value that reads and writes its registers itself. Its `Codable` methods call the methods of this protocol if the value belongs
/// to a property and the coder is an ``ImageDecoder`` or an ``ImageEncoder``.
protocol RegisterCoded {
    /// Reads the register called `name` and the registers whose names begin with `name`.
    init(_ reader: ImageReader, _ name: String) throws
    func write(_ writer: ImageWriter, _ name: String) throws
}

extension RegisterCoded {
    /// Reads the value of a property if the decoder is an ``ImageDecoder``; returns nil for all other decoders.
    static func read(_ decoder: any Decoder) throws -> Self? {
        guard let decoder = decoder as? ImageDecoder, let name = decoder.name else { return nil }
        return try Self(decoder.reader, name)
    }

    /// Writes the value of a property if the encoder is an ``ImageEncoder``.
    /// - Returns: whether it was written; false for all other encoders.
    func isWritten(_ encoder: any Encoder) throws -> Bool {
        guard let encoder = encoder as? ImageEncoder, let name = encoder.name else { return false }
        try write(encoder.writer, name)
        return true
    }
}

/// Reads an object from its ``ObjectImage``. If an attribute is absent, or if its value does not have the declared type, the
/// default of the attribute is used.
final class ImageReader {
    let image: ObjectImage
    let names: AttributeNames
    let defaults: [String: Value]
    let resolve: (UniqueID) throws -> UniqueID?

    init(
        _ image: ObjectImage, _ names: AttributeNames, _ defaults: [String: Value],
        _ resolve: @escaping (UniqueID) throws -> UniqueID?
    ) {
        self.image = image
        self.names = names
        self.defaults = defaults
        self.resolve = resolve
    }

    func read<T: Decodable>(_ type: T.Type, _ name: String) throws -> T {
        let value = image.values[name]
        if let value, let scalar = ScalarCoder.common(type, value) { return scalar }
        if type is any RegisterCoded.Type || type is any MergedRecord.Type {
            return try T(from: ImageDecoder(self, name))
        }
        if let value, let scalar = try? ScalarCoder.decode(type, value) { return scalar }
        guard let value = defaults[name] else { throw ScalarCoder.Refused() }
        return try ScalarCoder.decode(type, value)
    }
}

/// Names the attributes in which the properties of a type are stored.
struct AttributeNames: Sendable {
    /// The fields that the protocol defines for the type. All other properties are attributes that apps define.
    private let fields: Set<String>

    init(_ objectType: String) {
        if let type = ObjectType(objectType), !type.isAppDefined {
            fields = Set(Section(type).parts.map(\.name)).subtracting(["attributes"])
        } else {
            fields = []
        }
    }

    /// The name of the attribute of a property.
    /// - Parameter type: the type of the property with its wrapper, such as `Merged<String>`.
    func attribute(_ key: any CodingKey, _ type: Any.Type) -> String {
        let name = key.stringValue
        if fields.contains(name) { return name }
        if type == Merged<MergedText>.self { return AttributeName.namedText(name) }
        if type == Merged<Attachment.ID?>.self { return AttributeName.file(name) }
        return AttributeName.custom(name)
    }

    /// Whether an attribute is set once, when the object is created, and never by an edit.
    func isFixed(_ attribute: String) -> Bool {
        fields.contains(attribute) && HesperModel.Field(rawValue: attribute).map { $0.rule != .register } ?? false
    }

    /// Whether the protocol defines the type.
    var isBuiltIn: Bool { !fields.isEmpty }
}

/// Decodes an object, or a property of it.
struct ImageDecoder: Decoder {
    let reader: ImageReader
    /// The name of the property's attribute; nil for the object itself.
    let name: String?
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ reader: ImageReader, _ name: String? = nil) {
        self.reader = reader
        self.name = name
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(KeyedReader(reader: reader, name: name))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw ScalarCoder.Refused() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw ScalarCoder.Refused() }
}

private struct KeyedReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let reader: ImageReader
    let name: String?
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    private func attribute(_ key: Key, _ type: Any.Type) -> String {
        name.map { "\($0).\(key.stringValue)" } ?? reader.names.attribute(key, type)
    }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool {
        let attribute = attribute(key, Never.self)
        return (reader.image.values[attribute] ?? reader.defaults[attribute]) == .null
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        if name == nil, key.stringValue == "id" {
            return try T(from: ImageDecoder(reader))
        }
        return try reader.read(type, attribute(key, type))
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try reader.read(T?.self, attribute(key, type))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        throw ScalarCoder.Refused()
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw ScalarCoder.Refused() }
    func superDecoder() throws -> any Decoder { throw ScalarCoder.Refused() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw ScalarCoder.Refused() }
}
