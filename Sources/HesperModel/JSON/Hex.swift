/// Lower-case hexadecimal, straight from and into UTF-8 bytes.
enum Hex {
    /// The value of one hex digit of either case, nil for any other byte.
    @inline(__always)
    static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x61...0x66: byte - 0x57
        case 0x41...0x46: byte - 0x37
        default: nil
        }
    }

    /// Appends the `count` lowest digits of `value`, most significant first.
    static func append(_ value: UInt64, digits count: Int, to bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { digits in
            var rest = value
            for index in digits.indices.reversed() {
                let digit = UInt8(truncatingIfNeeded: rest & 0xf)
                digits[index] = digit < 10 ? 0x30 + digit : 0x57 + digit
                rest >>= 4
            }
            bytes.append(contentsOf: UnsafeBufferPointer(digits))
        }
    }

    /// Hex digits and nothing else as a number; nil if there is another byte, no byte, or more than 16.
    static func parse(_ bytes: some Collection<UInt8>) -> UInt64? {
        guard !bytes.isEmpty, bytes.count <= 16 else { return nil }
        var value: UInt64 = 0
        for byte in bytes {
            guard let digit = Hex.value(byte) else { return nil }
            value = value << 4 | UInt64(digit)
        }
        return value
    }

    /// Bytes as hex, two digits a byte.
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        var out: [UInt8] = []
        for byte in bytes { append(UInt64(byte), digits: 2, to: &out) }
        return String(decoding: out, as: UTF8.self)
    }
}

extension Sequence<UInt8> {
    /// Two lower-case hex digits a byte.
    public var hex: String { Hex.text(self) }
}

/// Eight bytes, most significant first, as one number: how IDs and clocks are kept in a database.
@inline(__always)
func bigEndian(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
}

/// The eight bytes of a number, most significant first.
@inline(__always)
func appendBigEndian(_ value: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: value >> shift))
    }
}
