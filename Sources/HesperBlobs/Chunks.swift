import NIOCore

/// The same bytes in larger pieces: as many at once as are worth a change of threads, or a request.
struct Chunks<Bytes: AsyncSequence>: AsyncSequence where Bytes.Element == ByteBuffer {
    private let bytes: Bytes
    private let size: Int

    /// - Parameter size: bytes that each has at least, but for the last.
    init(_ bytes: Bytes, of size: Int) {
        self.bytes = bytes
        self.size = size
    }

    func makeAsyncIterator() -> Iterator { Iterator(bytes: bytes.makeAsyncIterator(), size: size) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var bytes: Bytes.AsyncIterator
        fileprivate let size: Int

        mutating func next() async throws -> ByteBuffer? {
            guard var chunk = try await bytes.next() else { return nil }
            while chunk.readableBytes < size, let more = try await bytes.next() {
                chunk.reserveCapacity(size + more.readableBytes)
                chunk.writeImmutableBuffer(more)
            }
            return chunk
        }
    }
}
