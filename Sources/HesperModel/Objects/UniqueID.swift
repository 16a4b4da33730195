import Crypto

/// The ID of a note, a tag, an attachment or an app's own object: a UUID (RFC 9562).
///
/// An ID is written in lower case and read in either case. IDs are sorted by their bytes. Sorting their texts yields the same
/// order.
///
///     UniqueID("77C1F2E0-4D3B-4A8E-9B1A-0C5D6E7F8091")?.description   // "77c1f2e0-4d3b-…"
public struct UniqueID: Hashable, Sendable {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A random UUID (version 4).
    public static func random() -> UniqueID {
        UniqueID(
            high: UInt64.random(in: .min ... .max) & 0xffff_ffff_ffff_0fff | 0x4000,
            low: UInt64.random(in: .min ... .max) & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000)
    }

    /// A UUID that begins with a time in milliseconds, followed by 74 random bits (version 7). New objects get such an ID. A database
    /// adds their IDs at the end of its indexes, instead of changing a random page of each index for each ID.
    public static func timeOrdered(at date: Timestamp) -> UniqueID {
        let random = UniqueID.random()
        let milliseconds = UInt64(max(0, date.milliseconds))
        return UniqueID(high: milliseconds << 16 | random.high & 0x0fff | 0x7000, low: random.low)
    }

    /// The UUID of a name (version 5). The same name in the same namespace yields the same ID on every device.
    public static func derived(from name: String, in namespace: UniqueID) -> UniqueID {
        var hash = Insecure.SHA1()
        hash.update(data: namespace.bytes)
        hash.update(data: Array(name.utf8))
        let digest = Array(hash.finalize())
        return UniqueID(
            high: bigEndian(digest[0..<8]) & 0xffff_ffff_ffff_0fff | 0x5000,
            low: bigEndian(digest[8..<16]) & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000)
    }

    /// The 16 bytes of the ID, in network order.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        appendBigEndian(high, to: &bytes)
        appendBigEndian(low, to: &bytes)
        return bytes
    }

    /// Creates an ID from 16 bytes in network order; nil if there are more or fewer.
    public init?(bytes: some Collection<UInt8>) {
        guard let (high, low) = bigEndianPair(bytes) else { return nil }
        self.init(high: high, low: low)
    }
}

extension UniqueID: LosslessStringConvertible {
    /// Parses the 36 characters of a UUID, in either case; nil for anything else.
    public init?(_ text: String) {
        let utf8 = text.utf8
        guard utf8.count == 36 else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        var index = 0
        for byte in utf8 {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
            } else {
                guard let digit = Hex.value(byte) else { return nil }
                if index < 18 { high = high << 4 | UInt64(digit) } else { low = low << 4 | UInt64(digit) }
            }
            index += 1
        }
        self.init(high: high, low: low)
    }

    public var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    func append(to text: inout [UInt8]) {
        let hyphen = UInt8(ascii: "-")
        Hex.append(high >> 32, digits: 8, to: &text)
        text.append(hyphen)
        Hex.append(high >> 16, digits: 4, to: &text)
        text.append(hyphen)
        Hex.append(high, digits: 4, to: &text)
        text.append(hyphen)
        Hex.append(low >> 48, digits: 4, to: &text)
        text.append(hyphen)
        Hex.append(low, digits: 12, to: &text)
    }
}

extension UniqueID: Comparable {
    public static func < (left: UniqueID, right: UniqueID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}
