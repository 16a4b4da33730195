/// The ID of the device or server installation that made a clock: 64 random bits, written as 16 hex digits (merge.md, Clocks).
public struct NodeID: Hashable, Sendable {
    public let rawValue: UInt64

    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    public static func random() -> NodeID { NodeID(UInt64.random(in: 1 ... .max)) }
}

extension NodeID: LosslessStringConvertible {
    /// Parses 16 hex digits in either case; nil for any other text.
    public init?(_ text: String) {
        guard text.utf8.count == 16, let value = Hex.parse(text.utf8) else { return nil }
        self.init(value)
    }

    public var description: String {
        var text: [UInt8] = []
        Hex.append(rawValue, digits: 16, to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}

extension NodeID: Comparable {
    public static func < (left: NodeID, right: NodeID) -> Bool { left.rawValue < right.rawValue }
}
