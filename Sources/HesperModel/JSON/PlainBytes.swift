/// Scans for bytes that must be escaped in a JSON string. Such bytes are rare, so the scan checks eight bytes at a time.
enum PlainBytes {
    /// The index of the first control character, quotation mark or backslash at or after `start`. If there is none, the end of
    /// `bytes`.
    static func end(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var index = start
        let raw = UnsafeRawBufferPointer(bytes)
        while index + 8 <= raw.count {
            if containsEscaped(raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)) { break }
            index += 8
        }
        while index < bytes.count, !isEscaped(bytes[index]) { index += 1 }
        return index
    }

    /// Whether a text contains U+0000.
    static func containsNUL(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var index = end(in: bytes, from: 0)
            while index < bytes.count {
                if bytes[index] == 0 { return true }
                index = end(in: bytes, from: index + 1)
            }
            return false
        }
    }

    @inline(__always)
    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// Whether ``isEscaped(_:)`` is true for at least one of eight bytes. The formulas are from Sean Eron Anderson's Bit
    /// Twiddling Hacks: "Determine if a word has a byte less than n" and "Determine if a word has a byte equal to n".
    @inline(__always)
    private static func containsEscaped(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ (ones &* 0x22)
        let backslashes = word ^ (ones &* 0x5c)
        let control = (word &- ones &* 0x20) & ~word
        return (control | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes) & (ones &* 0x80) != 0
    }
}
