internal import HesperModel

/// A number that several devices count up and down at the same time. All their changes are added up.
///
///     try tx.update(soup.id) { $0.cooked += 1 }
public struct Counter: MergedValue, Hashable, Comparable, CustomStringConvertible {
    /// The sum of all changes on all devices.
    public private(set) var value: Int

    /// Creates a counter with the value 0.
    public init() { value = 0 }

    /// Adds a number to the value of a counter.
    public static func += (left: inout Counter, right: Int) { left.value = left.value.clampedSum(right) }

    /// Subtracts a number from the value of a counter.
    public static func -= (left: inout Counter, right: Int) { left += -right }

    public static func < (left: Self, right: Self) -> Bool { left.value < right.value }

    public var description: String { String(value) }

    /// Reads a counter whose value is encoded as a number.
    public init(from decoder: any Decoder) throws {
        if let read = try Self.read(decoder) {
            self = read
        } else {
            value = try decoder.singleValueContainer().decode(Int.self)
        }
    }

    /// Writes the value of the counter as a number.
    public func encode(to encoder: any Encoder) throws {
        if try isWritten(encoder) { return }
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension Counter: RegisterCoded {
    init(_ reader: ImageReader, _ name: String) throws {
        self.init()
        let prefix = name + "."
        for (attribute, part) in reader.image.values where attribute.hasPrefix(prefix) {
            guard case .integer(let part) = part, NodeID(String(attribute.dropFirst(prefix.count))) != nil else {
                continue
            }
            self += Int(part)
        }
    }

    func write(_ writer: ImageWriter, _ name: String) throws {
        writer.note(name, .counter, Self.self)
        writer.put(name, .counter(value))
    }
}

extension Int {
    /// The sum of two numbers, limited to the range of numbers that every device can represent exactly.
    fileprivate func clampedSum(_ other: Int) -> Int {
        let limit = Int(Limits.integer)
        let (sum, hasOverflowed) = addingReportingOverflow(other)
        return hasOverflowed ? (other < 0 ? -limit : limit) : Swift.min(Swift.max(sum, -limit), limit)
    }
}
