/// Runs of bytes that stand in a JSON string as they are: texts are long, and what must be escaped in them is rare, so
/// they are looked through eight bytes at a time.
enum PlainBytes {
    /// Where the first control character, quotation mark or backslash at or after `start` stands; the end if there is none.
    static func end(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var index = start
        let raw = UnsafeRawBufferPointer(bytes)
        while index + 8 <= raw.count {
            if holdsOther(raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)) { break }
            index += 8
        }
        while index < bytes.count, !isOther(bytes[index]) { index += 1 }
        return index
    }

    /// Whether U+0000 stands in a text.
    static func holdsNUL(_ text: String) -> Bool {
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
    private static func isOther(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// The same for any of eight bytes: "determine if a word has a byte less than n" and "equal to n" (Sean Eron Anderson,
    /// Bit Twiddling Hacks).
    @inline(__always)
    private static func holdsOther(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ (ones &* 0x22)
        let backslashes = word ^ (ones &* 0x5c)
        let control = (word &- ones &* 0x20) & ~word
        return (control | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes) & (ones &* 0x80) != 0
    }
}
