import HesperModel
import NIOCore

/// Splits bytes into parts for a multipart upload, and hashes them.
struct S3Parts<Bytes: AsyncSequence> where Bytes.Element == ByteBuffer {
    private var bytes: Bytes.AsyncIterator
    /// Received bytes that are not in a part yet.
    private var rest = ByteBuffer()
    private var hasher = AttachmentHasher()
    private let size: (Int) -> Int?
    private(set) var count = 0

    /// - Parameter size: the size of a part by its number, starting at 1. Nil if the number is too large.
    init(_ bytes: Bytes, size: @escaping (Int) -> Int? = S3PartSize.size) {
        self.bytes = bytes.makeAsyncIterator()
        self.size = size
    }

    /// The size and digest of the returned parts.
    var data: AttachmentData { hasher.data }

    /// Returns the next complete part and whether it is the last. Nil after the last. Empty data has one empty part.
    mutating func next() async throws -> (part: ByteBuffer, isLast: Bool)? {
        guard count == 0 || rest.readableBytes > 0 else { return nil }
        guard let size = size(count + 1) else { throw S3TooManyParts() }
        var part = ByteBuffer()
        while true {
            if let slice = rest.readSlice(length: Swift.min(rest.readableBytes, size - part.readableBytes)) {
                part.writeImmutableBuffer(slice)
            }
            // A part is the last if no byte follows it.
            guard rest.readableBytes == 0, let more = try await bytes.next() else { break }
            rest = more
        }
        // Some sources simply end when their task is cancelled.
        try Task.checkCancellation()
        count += 1
        hasher.update(part)
        return (part, rest.readableBytes == 0)
    }
}

/// The data exceeds the maximum size of an object.
struct S3TooManyParts: Error {}

/// The sizes of parts. S3 allows at most 10,000 parts of at least 5 MiB, and the total size is not known in advance. Later parts
/// are therefore larger, which allows objects of up to 570 GiB.
enum S3PartSize {
    static let first = 8 << 20
    static let later = 64 << 20
    static let firstParts = 1_000
    static let parts = 10_000

    /// Nil if the number exceeds the maximum.
    static func size(ofPart number: Int) -> Int? {
        guard number <= parts else { return nil }
        return number <= firstParts ? first : later
    }
}
