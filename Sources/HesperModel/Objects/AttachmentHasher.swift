import Crypto

/// Counts and hashes the bytes of an attachment as they pass.
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

    /// What is known of all that has passed.
    public var data: AttachmentData { AttachmentData(byteCount: byteCount, sha256: hash.finalize().hex) }
}
