internal import HesperModel

/// Collects the attributes of an object: their current values, and the values that were read from the store.
final class ImageWriter {
    enum Leaf {
        /// A register. For the member of a set, `removed` is the value to write if the set no longer contains it.
        case value(Value, removed: Value? = nil)
        case counter(Int)
        case text(String)
    }

    /// The kind of a property, which determines how it is merged.
    enum Kind: Sendable, Equatable {
        case scalar
        /// A record. Its own properties follow it in ``ImageWriter/properties``.
        case record
        case set(keyLength: Int)
        case counter
        case text
        /// The ID of an attachment that the object holds, or nil.
        case file
    }

    struct Property: Sendable {
        /// The name of the property's attribute, or the common prefix of the names if the property has several registers.
        let name: String
        let kind: Kind
        let type: Any.Type
    }

    let names: AttributeNames
    private let isNew: Bool
    private var current: [(name: String, leaf: Leaf)] = []
    private var read: [(name: String, leaf: Leaf)] = []
    private var isOriginal = false
    private(set) var properties: [Property] = []
    /// Whether the object was read from a store.
    private(set) var wasRead = false

    /// Collects the attributes of an object.
    /// - Parameter isNew: whether the object is to be inserted. If so, the values that were read are ignored.
    init<Object: SyncedObject>(_ object: Object, isNew: Bool = false) throws {
        names = AttributeNames(Object.objectType)
        self.isNew = isNew
        do {
            try object.encode(to: ImageEncoder(writer: self))
        } catch is ScalarCoder.Refused {
            throw StoreError.invalidType("\(Object.self) must use the synthesized Codable conformance.")
        } catch let offence as Offence {
            let property = names.property(offence.name)
            if case StoreError.invalidValue(let message)? = offence.reason {
                throw StoreError.invalidValue("\(Object.self).\(property): \(message)")
            }
            throw StoreError.invalidType(
                "\(Object.self).\(property) cannot be merged: \(offence.type) is not a MergedScalar, "
                    + "MergedRecord, MergedSet, Counter or MergedText.")
        }
    }

    /// Collects the attributes of a record, as if the record were a property named ``recordName``.
    init(record: some MergedRecord) throws {
        names = AttributeNames("")
        isNew = true
        try record.encode(to: ImageEncoder(writer: self, name: ImageWriter.recordName))
    }

    static let recordName = "record"

    /// A property whose value cannot be written.
    private struct Offence: Error {
        let name: String
        let type: Any.Type
        var reason: StoreError?
    }

    // MARK: Writing

    func write<T: Encodable>(_ value: T, _ name: String) throws {
        do {
            if let scalar = try ScalarCoder.common(value) {
                note(name, .scalar, T.self)
                put(name, .value(scalar))
            } else if T.self is any RegisterCoded.Type {
                try value.encode(to: ImageEncoder(writer: self, name: name))
            } else if value is any MergedRecord {
                note(name, .record, T.self)
                try value.encode(to: ImageEncoder(writer: self, name: name))
            } else if value is any MergedValue {
                let scalar = try ScalarCoder.value(value)
                note(name, T.self == Attachment.ID?.self ? .file : .scalar, T.self)
                put(name, .value(scalar))
            } else {
                throw ScalarCoder.Refused()
            }
        } catch is ScalarCoder.Refused {
            throw Offence(name: name, type: T.self)
        } catch let error as StoreError {
            throw Offence(name: name, type: T.self, reason: error)
        }
    }

    /// Collects the values that were read, unless the object is new.
    func original(_ body: (ImageWriter) throws -> Void) rethrows {
        wasRead = true
        guard !isNew else { return }
        isOriginal = true
        defer { isOriginal = false }
        try body(self)
    }

    func put(_ name: String, _ leaf: Leaf) {
        if isOriginal { read.append((name, leaf)) } else { current.append((name, leaf)) }
    }

    func note(_ name: String, _ kind: Kind, _ type: Any.Type) {
        if !isOriginal { properties.append(Property(name: name, kind: kind, type: type)) }
    }

    // MARK: Results

    /// The current values of all attributes except counters and texts.
    var values: [String: Value] {
        var values: [String: Value] = [:]
        for case (let name, .value(let value, _)) in current { values[name] = value }
        return values
    }

    /// The attributes that differ from those that were read.
    /// - Parameter ofFixed: true to return only the fields that are set once; false to return only the attributes that edits
    ///   change.
    func changes(ofFixed: Bool) throws -> [AttributeChange] {
        var originals: [String: Leaf] = [:]
        for (name, leaf) in read { originals[name] = leaf }
        var changes: [AttributeChange] = []
        for (name, leaf) in current where names.isFixed(name) == ofFixed {
            if let change = change(name, leaf, originals.removeValue(forKey: name)) { changes.append(change) }
        }
        for (name, leaf) in read where originals[name] != nil && names.isFixed(name) == ofFixed {
            if case .value(_, let removed?) = leaf { changes.append(.set(name, removed)) }
        }
        for change in changes {
            switch change {
            case .set(let name, let value): try names.validate(name, value)
            case .text(let name, _, let text): try names.validate(name, .string(text))
            case .add: break
            }
        }
        return changes
    }

    private func change(_ name: String, _ leaf: Leaf, _ original: Leaf?) -> AttributeChange? {
        switch (leaf, original) {
        case (.value(let value, _), .value(let former, _)?): value == former ? nil : .set(name, value)
        case (.value(let value, _), _): .set(name, value)
        case (.counter(let value), .counter(let former)?): value == former ? nil : .add(name, value - former)
        case (.counter(let value), _): value == 0 ? nil : .add(name, value)
        case (.text(let text), .text(let former)?):
            MergedText(text) == MergedText(former) ? nil : .text(name, base: former, now: text)
        case (.text(let text), _): text.isEmpty ? nil : .text(name, base: nil, now: text)
        }
    }
}

extension AttributeNames {
    /// The name of the property that is stored in an attribute, for messages.
    func property(_ attribute: String) -> String {
        for section in ["attributes.", "texts.", "files."] where attribute.hasPrefix(section) {
            return String(attribute.dropFirst(section.count))
        }
        return attribute
    }

    /// Checks a value as the server does.
    fileprivate func validate(_ attribute: String, _ value: Value) throws {
        let outcome: FieldValue.Outcome
        if attribute.hasPrefix("attributes.") {
            outcome = FieldValue.custom(named: property(attribute), value.json)
        } else if AttributeName.isText(attribute) {
            outcome = FieldValue.text(value.json)
        } else if let field = HesperModel.Field(rawValue: attribute) {
            // Null stands for a field that is not set. It is never written.
            guard value != .null else { return }
            outcome = field.read(value.json)
        } else {
            return
        }
        if case .failure(let error) = outcome {
            throw StoreError.invalidValue("\(property(attribute)) \(error.requirement).")
        }
    }
}

/// Encodes an object, or a property of it.
struct ImageEncoder: Encoder {
    let writer: ImageWriter
    var name: String?
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedWriter(writer: writer, name: name))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer() }
    func singleValueContainer() -> any SingleValueEncodingContainer { RefusingContainer() }
}

private struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let writer: ImageWriter
    let name: String?
    var codingPath: [any CodingKey] { [] }

    private func attribute(_ key: Key, _ type: Any.Type) -> String {
        name.map { "\($0).\(key.stringValue)" } ?? writer.names.attribute(key, type)
    }

    func encodeNil(forKey key: Key) throws { throw ScalarCoder.Refused() }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        if name == nil, key.stringValue == "id" { return }
        try writer.write(value, attribute(key, T.self))
    }

    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
        try writer.write(value, attribute(key, T.self))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(RefusingKeyedContainer<Nested>())
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { RefusingContainer() }
    func superEncoder() -> any Encoder { RefusingContainer() }
    func superEncoder(forKey key: Key) -> any Encoder { RefusingContainer() }
}
