import CZlib
import HesperModel
import NIOCore

/// Unpacks a request's body as it comes, and never more than a limit.
final class Unpacker {
    private let stream: UnsafeMutablePointer<z_stream>
    private let coding: ContentCoding
    private var hasEnded = false

    init(_ coding: ContentCoding) {
        self.coding = coding
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let result = inflateInit2_(stream, coding.windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(result == Z_OK, "zlib has no memory, or is another version")
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Writes what `bytes` unpack to behind what is in `body`.
    /// - Returns: whether `body` stays within `limit` bytes; unpacking stops right after them.
    /// - Throws: `malformed-request` for what is not packed so.
    func unpack(_ bytes: ByteBuffer, into body: inout ByteBuffer, limit: Int) throws(Problem) -> Bool {
        guard bytes.readableBytes > 0 else { return true }
        var result = Z_OK
        bytes.withUnsafeReadableBytes { bytes in
            stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
            stream.pointee.avail_in = UInt32(bytes.count)
            repeat {
                body.writeWithUnsafeMutableBytes(minimumWritableBytes: 8 << 10) { room in
                    stream.pointee.next_out = room.bindMemory(to: UInt8.self).baseAddress
                    stream.pointee.avail_out = UInt32(room.count)
                    result = inflate(stream, Z_NO_FLUSH)
                    return room.count - Int(stream.pointee.avail_out)
                }
            } while result == Z_OK && stream.pointee.avail_out == 0 && body.readableBytes <= limit
        }
        if body.readableBytes > limit { return false }
        switch result {
        // Nothing more can be said of what is here so far.
        case Z_OK,
            Z_BUF_ERROR where !hasEnded:
            return true
        // One member, and nothing behind it.
        case Z_STREAM_END where stream.pointee.avail_in == 0 && !hasEnded:
            hasEnded = true
            return true
        default: throw Problem(.malformedRequest, "The body is said to be packed with \(coding), and is not.")
        }
    }

    /// - Throws: `malformed-request` if the end is missing.
    func finish() throws(Problem) {
        guard hasEnded else { throw Problem(.malformedRequest, "What is packed with \(coding) ends too soon.") }
    }
}
