/// Reads and writes hexadecimal numbers as UTF-8 bytes. Digits are read in either case and written in lower case.
enum Hex {
    /// The value of a hex digit in either case; nil for any other byte.
    @inline(__always)
    static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x61...0x66: byte - 0x57
        case 0x41...0x46: byte - 0x37
        default: nil
        }
    }

    /// Appends the `count` lowest hex digits of `value`, the most significant digit first.
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

    /// Parses 1 to 16 hex digits; nil for anything else.
    static func parse(_ bytes: some Collection<UInt8>) -> UInt64? {
        guard !bytes.isEmpty, bytes.count <= 16 else { return nil }
        var value: UInt64 = 0
        for byte in bytes {
            guard let digit = Hex.value(byte) else { return nil }
            value = value << 4 | UInt64(digit)
        }
        return value
    }

    /// Bytes as hexadecimal text, with two digits for each byte.
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        var out: [UInt8] = []
        for byte in bytes { append(UInt64(byte), digits: 2, to: &out) }
        return String(decoding: out, as: UTF8.self)
    }
}

extension Sequence<UInt8> {
    /// The bytes as hexadecimal text, with two lower-case digits for each byte.
    public var hex: String { Hex.text(self) }
}

/// The number that eight bytes represent, the most significant byte first. IDs and clocks are stored in this form.
@inline(__always)
func bigEndian(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
}

/// The two numbers that 16 bytes represent, the most significant byte first; nil if there are more or fewer bytes.
func bigEndianPair(_ bytes: some Collection<UInt8>) -> (high: UInt64, low: UInt64)? {
    guard bytes.count == 16 else { return nil }
    // The bytes are copied with one call, because callers in other modules use the unspecialized form of this function, in which
    // each access to a byte would be a dynamic call.
    var pair: (UInt64, UInt64) = (0, 0)
    withUnsafeMutableBytes(of: &pair) { $0.copyBytes(from: bytes) }
    return (UInt64(bigEndian: pair.0), UInt64(bigEndian: pair.1))
}

/// Appends the eight bytes of a number, the most significant byte first.
@inline(__always)
func appendBigEndian(_ value: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: value >> shift))
    }
}
