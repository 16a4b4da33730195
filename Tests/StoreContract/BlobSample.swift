import Crypto
import HesperModel
import NIOCore

/// Deterministic bytes of any length, generated on demand. Offsets that differ by a power of two have different bytes, so that
/// lost, duplicated and misplaced parts are detected.
public struct BlobSample: Sendable {
    public let byteCount: Int64

    public init(_ byteCount: Int64) { self.byteCount = byteCount }

    /// A prime, so that it does not divide common sizes.
    private static let period = 65_521
    private static let block: ByteBuffer = {
        var random = SeededGenerator(seed: 2)
        return ByteBuffer(bytes: (0..<period).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }()

    public subscript(range: Range<Int64>) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(range.count)
        var offset = range.lowerBound
        while offset < range.upperBound {
            let start = Int(offset % Int64(BlobSample.period))
            let count = min(BlobSample.period - start, Int(range.upperBound - offset))
            buffer.writeImmutableBuffer(BlobSample.block.getSlice(at: start, length: count) ?? ByteBuffer())
            offset += Int64(count)
        }
        return buffer
    }

    /// The size and digest that a store must return for it.
    public var data: AttachmentData {
        var hash = SHA256()
        for piece in ranges(of: 1 << 20) { self[piece].withUnsafeReadableBytes { hash.update(bufferPointer: $0) } }
        let digits = hash.finalize().flatMap { [$0 >> 4, $0 & 15] }.map { String($0, radix: 16) }
        return AttachmentData(byteCount: byteCount, sha256: digits.joined())
    }

    private func ranges(of size: Int) -> [Range<Int64>] {
        stride(from: 0, to: byteCount, by: size).map { $0..<min($0 + Int64(size), byteCount) }
    }

    /// The bytes in pieces, as they arrive over a connection.
    /// - Parameter meanwhile: called with the offset before each piece. The sequence rethrows its errors.
    public func pieces(
        of size: Int = 100_000, meanwhile: @escaping @Sendable (Int64) async throws -> Void = { _ in }
    ) -> BlobPieces {
        BlobPieces(sample: self, size: Int64(size), meanwhile: meanwhile)
    }
}

/// The pieces of a sample.
public struct BlobPieces: AsyncSequence, Sendable {
    fileprivate let sample: BlobSample
    fileprivate let size: Int64
    fileprivate let meanwhile: @Sendable (Int64) async throws -> Void

    public func makeAsyncIterator() -> Iterator { Iterator(pieces: self) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let pieces: BlobPieces
        private var offset: Int64 = 0

        fileprivate init(pieces: BlobPieces) { self.pieces = pieces }

        public mutating func next() async throws -> ByteBuffer? {
            try await pieces.meanwhile(offset)
            guard offset < pieces.sample.byteCount else { return nil }
            let end = Swift.min(offset + pieces.size, pieces.sample.byteCount)
            defer { offset = end }
            return pieces.sample[offset..<end]
        }
    }
}
