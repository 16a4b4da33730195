/// A hybrid logical clock, which orders edits in the same way on every device (merge.md, Clocks; Kulkarni et al. 2014).
///
/// A clock has 16 bytes: 48 bits of milliseconds since 1970, a 16-bit counter, and the 64-bit ID of the node that made the clock.
/// Comparing the bytes yields a total order. As text, all clocks have the same length, and comparing the texts yields the same
/// order as comparing the bytes.
///
///     Clock("2026-11-21T08:47:12.345Z-0003-9f86d081884c7d65")
public struct Clock: Hashable, Sendable {
    /// The clock's milliseconds in the upper 48 bits, and its counter in the lower 16 bits.
    public let time: UInt64
    public let node: NodeID

    /// The last millisecond of the year 9999, the last year with four digits.
    public static let greatestMilliseconds = UInt64(Timestamp.range.upperBound)
    /// The length of a clock as text, in bytes.
    public static let textLength = 46

    init(time: UInt64, node: NodeID) {
        self.time = time
        self.node = node
    }

    /// Creates a clock; nil if the milliseconds are greater than ``greatestMilliseconds``.
    public init?(milliseconds: UInt64, counter: UInt16 = 0, node: NodeID) {
        guard milliseconds <= Clock.greatestMilliseconds else { return nil }
        self.init(time: milliseconds << 16 | UInt64(counter), node: node)
    }

    /// The smallest possible clock.
    public static let zero = Clock(time: 0, node: NodeID(0))

    public var milliseconds: UInt64 { time >> 16 }
    public var counter: UInt16 { UInt16(truncatingIfNeeded: time) }
    /// The clock's milliseconds as a timestamp.
    public var timestamp: Timestamp { Timestamp(clamping: Int64(milliseconds)) }
}

extension Clock: Comparable {
    @inline(__always)
    public static func < (left: Clock, right: Clock) -> Bool {
        left.time != right.time ? left.time < right.time : left.node < right.node
    }
}

extension Clock {
    /// The clock's 16 bytes, the most significant first.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        appendBigEndian(time, to: &bytes)
        appendBigEndian(node.rawValue, to: &bytes)
        return bytes
    }

    /// Creates a clock from 16 bytes; nil if there are more or fewer, or if the milliseconds are out of range.
    public init?(bytes: some Collection<UInt8>) {
        guard let (time, node) = bigEndianPair(bytes), time >> 16 <= Clock.greatestMilliseconds else { return nil }
        self.init(time: time, node: NodeID(node))
    }
}

extension Clock: LosslessStringConvertible {
    /// Parses a clock in the form of ``description``; nil for any other text. The hex digits may also be in upper case.
    public init?(_ text: String) {
        var copy = text
        let clock: Clock?? = copy.withUTF8 { bytes in
            guard bytes.count == Clock.textLength, let milliseconds = Timestamp.milliseconds(written: bytes),
                milliseconds >= 0, bytes[24] == UInt8(ascii: "-"), bytes[29] == UInt8(ascii: "-"),
                let counter = Hex.parse(bytes[25..<29]), let node = Hex.parse(bytes[30..<46])
            else { return nil }
            return Clock(time: UInt64(milliseconds) << 16 | counter, node: NodeID(node))
        }
        guard let clock, let clock else { return nil }
        self = clock
    }

    public var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(Clock.textLength)
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    func append(to text: inout [UInt8]) {
        timestamp.append(to: &text)
        text.append(UInt8(ascii: "-"))
        Hex.append(UInt64(counter), digits: 4, to: &text)
        text.append(UInt8(ascii: "-"))
        Hex.append(node.rawValue, digits: 16, to: &text)
    }
}
