import NIOCore

/// Combines small buffers into larger ones, so that each is worth a thread switch or a request.
struct Chunks<Bytes: AsyncSequence>: AsyncSequence where Bytes.Element == ByteBuffer {
    private let bytes: Bytes
    private let size: Int

    /// - Parameter size: the minimum size of each buffer in bytes, except the last.
    init(_ bytes: Bytes, of size: Int) {
        self.bytes = bytes
        self.size = size
    }

    func makeAsyncIterator() -> Iterator { Iterator(bytes: bytes.makeAsyncIterator(), size: size) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var bytes: Bytes.AsyncIterator
        fileprivate let size: Int
        private var isAtEnd = false

        fileprivate init(bytes: Bytes.AsyncIterator, size: Int) {
            self.bytes = bytes
            self.size = size
        }

        mutating func next() async throws -> ByteBuffer? {
            guard var chunk = try await piece() else { return nil }
            while chunk.readableBytes < size, let more = try await piece() {
                chunk.reserveCapacity(size + more.readableBytes)
                chunk.writeImmutableBuffer(more)
            }
            return chunk
        }

        private mutating func piece() async throws -> ByteBuffer? {
            guard !isAtEnd else { return nil }
            if let piece = try await bytes.next() { return piece }
            isAtEnd = true
            // Some sources simply end when their task is cancelled. That is not the end of the data.
            try Task.checkCancellation()
            return nil
        }
    }
}
