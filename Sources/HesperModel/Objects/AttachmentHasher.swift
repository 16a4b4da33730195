import Crypto

/// Counts and hashes the bytes of an attachment while they are copied.
///
///     var hasher = AttachmentHasher()
///     for try await buffer in bytes { hasher.update(buffer) }
///     guard hasher.data == blob.data else { … }
public struct AttachmentHasher: Sendable {
    private var hash = SHA256()
    public private(set) var byteCount: Int64 = 0

    public init() {}

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        hash.update(bufferPointer: bytes)
        byteCount += Int64(bytes.count)
    }

    /// The size and hash of the bytes that were added so far.
    public var data: AttachmentData { AttachmentData(byteCount: byteCount, sha256: hash.finalize().hex) }
}
