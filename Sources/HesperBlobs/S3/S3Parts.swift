import HesperModel
import NIOCore

/// Bytes in parts that are as large as S3 is to have them, all but the last; hashed as they pass.
struct S3Parts<Bytes: AsyncSequence> where Bytes.Element == ByteBuffer {
    private var bytes: Bytes.AsyncIterator
    /// What has come and is in no part yet.
    private var rest = ByteBuffer()
    private var hasher = AttachmentHasher()
    private let size: (Int) -> Int?
    private(set) var count = 0

    /// - Parameter size: bytes of the part of a number, from 1; nil if there can be no such part.
    init(_ bytes: Bytes, size: @escaping (Int) -> Int? = S3PartSize.size) {
        self.bytes = bytes.makeAsyncIterator()
        self.size = size
    }

    /// What has been given out.
    var data: AttachmentData { hasher.data }

    /// The next part, whole, and whether it is the last; nil after that. Of no bytes at all there is one part, which is empty.
    mutating func next() async throws -> (part: ByteBuffer, isLast: Bool)? {
        guard count == 0 || rest.readableBytes > 0 else { return nil }
        guard let size = size(count + 1) else { throw S3TooManyParts() }
        var part = ByteBuffer()
        while true {
            if let slice = rest.readSlice(length: Swift.min(rest.readableBytes, size - part.readableBytes)) {
                part.writeImmutableBuffer(slice)
            }
            // Only a byte too many says that there is another part.
            guard rest.readableBytes == 0, let more = try await bytes.next() else { break }
            rest = more
        }
        // A source that is cancelled may end as if there was no more.
        try Task.checkCancellation()
        count += 1
        hasher.update(part)
        return (part, rest.readableBytes == 0)
    }
}

/// More bytes than one object can have.
struct S3TooManyParts: Error {}

/// How large parts are. S3 takes at most 10,000 of them, of 5 MiB and more each; how many bytes will come is not known
/// when the first is sent. So parts grow: with these, an object has up to 570 GiB.
enum S3PartSize {
    static let first = 8 << 20
    static let later = 64 << 20
    static let firstParts = 1_000
    static let parts = 10_000

    /// Nil if there can be no such part.
    static func size(ofPart number: Int) -> Int? {
        guard number <= parts else { return nil }
        return number <= firstParts ? first : later
    }
}
