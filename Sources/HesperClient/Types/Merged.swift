/// Declares a property that syncs. Every stored property of a ``SyncedObject`` except `id` must be declared with it.
///
///     @Merged var title = ""
///
/// The wrapper keeps the value that was read from the store. Therefore, saving an object writes only the properties that were
/// changed after the object was read.
@propertyWrapper
public struct Merged<Value: MergedValue>: Sendable, Equatable {
    /// The current value of the property.
    public var wrappedValue: Value
    /// The value that was read from the store. Nil if the object was not read from a store.
    private(set) var original: Value?
    /// The name of the attribute that stores the property, or the common prefix of the names if several attributes store it. The
    /// name is empty if the object was not read from a store.
    private(set) var name = ""

    /// Creates a property with a default value.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    /// Creates an optional property whose default value is nil.
    public init() where Value: ExpressibleByNilLiteral { wrappedValue = nil }

    /// The property itself, for key paths of indexes, orders and predicates.
    public var projectedValue: Self { self }

    public static func == (left: Self, right: Self) -> Bool { left.wrappedValue == right.wrappedValue }
}

extension Merged: Hashable where Value: Hashable {
    public func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}

extension Merged: Codable {
    /// Reads the value of the property.
    public init(from decoder: any Decoder) throws {
        self = try Self.read(decoder) ?? Merged(wrappedValue: Value(from: decoder))
    }

    /// Writes the value of the property.
    public func encode(to encoder: any Encoder) throws {
        if try !isWritten(encoder) { try wrappedValue.encode(to: encoder) }
    }
}

/// A property declared with ``Merged``, whatever the type of its value.
protocol AnyMerged: RegisterCoded {
    var name: String { get }
}

extension Merged: AnyMerged {
    init(_ reader: ImageReader, _ name: String) throws {
        wrappedValue = try reader.read(Value.self, name)
        original = wrappedValue
        self.name = name
    }

    func write(_ writer: ImageWriter, _ name: String) throws {
        try writer.write(wrappedValue, name)
        if let original { try writer.original { try $0.write(original, name) } }
    }
}
