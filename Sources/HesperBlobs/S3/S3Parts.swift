import HesperModel
import NIOCore

/// Splits bytes into parts for a multipart upload and calculates the hash of the bytes.
struct S3Parts<Bytes: AsyncSequence> where Bytes.Element == ByteBuffer {
    private var bytes: Bytes.AsyncIterator
    /// Bytes that have been received and are not in a part yet.
    private var rest = ByteBuffer()
    private var hasher = AttachmentHasher()
    private let size: (Int) -> Int?
    private(set) var count = 0

    /// - Parameter size: returns the size in bytes of the part with the given number; nil if the number is too large. The first
    ///   part has the number 1.
    init(_ bytes: Bytes, size: @escaping (Int) -> Int? = S3PartSize.size) {
        self.bytes = bytes.makeAsyncIterator()
        self.size = size
    }

    /// The total size and the digest of all parts that ``next()`` has returned.
    var data: AttachmentData { hasher.data }

    /// Returns the next part, and whether it is the last part; nil after the last part. If there are no bytes, there is a single
    /// empty part.
    mutating func next() async throws -> (part: ByteBuffer, isLast: Bool)? {
        guard count == 0 || rest.readableBytes > 0 else { return nil }
        guard let size = size(count + 1) else { throw S3TooManyParts() }
        var part = ByteBuffer()
        while true {
            if let slice = rest.readSlice(length: Swift.min(rest.readableBytes, size - part.readableBytes)) {
                part.writeImmutableBuffer(slice)
            }
            // The part is the last part if no byte follows it.
            guard rest.readableBytes == 0, let more = try await bytes.next() else { break }
            rest = more
        }
        // If the task is cancelled, some sources return nil, as they do at the end of the data. This check distinguishes the two
        // cases.
        try Task.checkCancellation()
        count += 1
        hasher.update(part)
        return (part, rest.readableBytes == 0)
    }
}

/// The error for data that exceeds the maximum size of an object.
struct S3TooManyParts: Error {}

/// The sizes of the parts of a multipart upload. S3 allows at most 10,000 parts per object, and each part except the last must
/// have at least 5 MiB. The total size is not known in advance, so later parts are larger than the first parts. This allows
/// objects of up to 570 GiB.
enum S3PartSize {
    static let first = 8 << 20
    static let later = 64 << 20
    static let firstParts = 1_000
    static let parts = 10_000

    /// The size of a part in bytes; nil if `number` exceeds the maximum number of parts.
    static func size(ofPart number: Int) -> Int? {
        guard number <= parts else { return nil }
        return number <= firstParts ? first : later
    }
}
