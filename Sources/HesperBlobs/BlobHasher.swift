import Crypto
import HesperModel
import NIOCore

/// Counts and hashes bytes as they pass.
struct BlobHasher: Sendable {
    private var hash = SHA256()
    private(set) var byteCount: Int64 = 0

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        hash.update(bufferPointer: bytes)
        byteCount += Int64(bytes.count)
    }

    mutating func update(_ buffer: ByteBuffer) { buffer.withUnsafeReadableBytes { update($0) } }

    var data: AttachmentData { AttachmentData(byteCount: byteCount, sha256: hash.finalize().hex) }
}

extension Sequence<UInt8> {
    /// Two lower-case digits a byte.
    var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
