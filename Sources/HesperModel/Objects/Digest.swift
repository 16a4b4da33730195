import Crypto

/// A 16-byte hash for comparing two copies of an object or of a scope. The digest of a scope is the XOR of the digests of its
/// objects (merge.md, The digest).
public struct Digest: Hashable, Sendable {
    public var high: UInt64
    public var low: UInt64

    public init(high: UInt64 = 0, low: UInt64 = 0) {
        self.high = high
        self.low = low
    }

    /// The digest of an empty scope.
    public static let zero = Digest()

    /// The first 16 bytes of the SHA-256 of `lines`.
    public init(of lines: [UInt8]) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        SHA256.hash(data: lines).withUnsafeBytes { bytes in
            high = bigEndian(bytes[0..<8])
            low = bigEndian(bytes[8..<16])
        }
        self.init(high: high, low: low)
    }

    /// Creates a digest from 16 bytes; nil if there are more or fewer.
    public init?(bytes: some Collection<UInt8>) {
        guard let (high, low) = bigEndianPair(bytes) else { return nil }
        self.init(high: high, low: low)
    }

    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        appendBigEndian(high, to: &bytes)
        appendBigEndian(low, to: &bytes)
        return bytes
    }

    public static func ^ (left: Digest, right: Digest) -> Digest {
        Digest(high: left.high ^ right.high, low: left.low ^ right.low)
    }

    public static func ^= (left: inout Digest, right: Digest) { left = left ^ right }
}

extension Digest: CustomStringConvertible {
    /// The digest as text: 32 hex digits.
    public var description: String { Hex.text(bytes) }
}
