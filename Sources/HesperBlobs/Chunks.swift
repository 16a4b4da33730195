import NIOCore

/// Combines small buffers into larger buffers, so that fewer thread switches or requests are necessary.
struct Chunks<Bytes: AsyncSequence>: AsyncSequence where Bytes.Element == ByteBuffer {
    private let bytes: Bytes
    private let size: Int

    /// - Parameter size: the minimum size of each buffer in bytes. The last buffer may be smaller.
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
            // If the task is cancelled, some sources return nil, as they do at the end of the data. This check distinguishes the
            // two cases.
            try Task.checkCancellation()
            return nil
        }
    }
}
