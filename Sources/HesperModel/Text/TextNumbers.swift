/// Assigns numbers to byte sequences: equal sequences get equal numbers.
struct TextNumbers {
    private struct Key: Hashable {
        let bytes: ArraySlice<UInt8>

        static func == (one: Key, other: Key) -> Bool { one.bytes == other.bytes }

        /// Hashes the bytes as one buffer. Hashing element by element takes ten times as long on a large text.
        func hash(into hasher: inout Hasher) {
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }

    private var known: [Key: Int32] = [:]

    /// - Parameter capacity: the number of different byte sequences for which space is reserved.
    init(capacity: Int = 0) { known.reserveCapacity(capacity) }

    mutating func number(of bytes: ArraySlice<UInt8>) -> Int32 {
        // Half of all tokens are single blanks. To save time, a single byte is its own number.
        if bytes.count == 1, let byte = bytes.first { return Int32(byte) }
        let next = Int32(truncatingIfNeeded: known.count + 256)
        let key = Key(bytes: bytes)
        if let number = known[key] { return number }
        known[key] = next
        return next
    }
}
