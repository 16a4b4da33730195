public import Foundation
package import HesperModel

/// The ID of an object of one type. An ID is a UUID, written in lower case.
///
///     let id = ObjectID<Recipe>()
///     ObjectID<Recipe>("77c1f2e0-4d3b-4a8e-9b1a-0c5d6e7f8091")
public struct ObjectID<Object>: Hashable, Sendable {
    package let uniqueID: UniqueID

    package init(_ uniqueID: UniqueID) { self.uniqueID = uniqueID }

    /// Creates a new ID: a UUID of version 7, which begins with the time.
    public init() { uniqueID = .timeOrdered(at: LocalDatabase.wallClock()) }

    /// Creates an ID from a UUID.
    public init(_ uuid: UUID) {
        let bytes = withUnsafeBytes(of: uuid.uuid) { Array($0) }
        uniqueID = UniqueID(bytes: bytes) ?? UniqueID(high: 0, low: 0)
    }

    /// The ID as a UUID.
    public var uuid: UUID {
        var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: uniqueID.bytes) }
        return UUID(uuid: uuid)
    }
}

extension ObjectID: LosslessStringConvertible {
    /// Creates an ID from the 36 characters of a UUID, in either case. Nil for any other text.
    public init?(_ text: String) {
        guard let uniqueID = UniqueID(text) else { return nil }
        self.uniqueID = uniqueID
    }

    /// The text of the ID, in lower case.
    public var description: String { uniqueID.description }
}

extension ObjectID: Comparable {
    /// Orders IDs by their bytes. ``Order`` uses this order for objects with equal values.
    public static func < (left: Self, right: Self) -> Bool { left.uniqueID < right.uniqueID }
}

extension ObjectID: Codable {
    /// Reads the text of an ID.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? ImageDecoder {
            uniqueID = decoder.reader.image.id
            return
        }
        let container = try decoder.singleValueContainer()
        guard let id = UniqueID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "An ID must be a UUID.")
        }
        uniqueID = id
    }

    /// Writes the text of the ID.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension ObjectID: MergedScalar {}
extension ObjectID: MergedElement {}
