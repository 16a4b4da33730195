import CZlib
import HesperModel
import NIOCore

/// Decompresses the body of a request with zlib, up to a limit.
final class Decompressor {
    private let stream: UnsafeMutablePointer<z_stream>
    private let coding: ContentCoding
    private var hasEnded = false

    init(_ coding: ContentCoding) {
        self.coding = coding
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let result = inflateInit2_(stream, coding.windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(result == Z_OK, "zlib is out of memory, or has an incompatible version")
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Decompresses `bytes` and appends the output to `body`.
    /// - Returns: false if `body` has become larger than `limit` bytes. The rest of `bytes` is not decompressed in that case.
    /// - Throws: `malformed-request` if the data is invalid.
    func decompress(_ bytes: ByteBuffer, into body: inout ByteBuffer, limit: Int) throws(Problem) -> Bool {
        guard bytes.readableBytes > 0 else { return true }
        var result = Z_OK
        bytes.withUnsafeReadableBytes { bytes in
            stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
            stream.pointee.avail_in = UInt32(bytes.count)
            repeat {
                body.writeWithUnsafeMutableBytes(minimumWritableBytes: 8 << 10) { space in
                    stream.pointee.next_out = space.bindMemory(to: UInt8.self).baseAddress
                    stream.pointee.avail_out = UInt32(space.count)
                    result = inflate(stream, Z_NO_FLUSH)
                    return space.count - Int(stream.pointee.avail_out)
                }
            } while result == Z_OK && stream.pointee.avail_out == 0 && body.readableBytes <= limit
        }
        if body.readableBytes > limit { return false }
        switch result {
        // zlib has consumed all input, and more input may follow.
        case Z_OK,
            Z_BUF_ERROR where !hasEnded:
            return true
        // The compressed data ends here, and no bytes follow it.
        case Z_STREAM_END where stream.pointee.avail_in == 0 && !hasEnded:
            hasEnded = true
            return true
        default:
            throw Problem(.malformedRequest, "The body is not valid \(coding), the Content-Encoding of the request.")
        }
    }

    /// Checks that the compressed data was complete. Called after the last bytes.
    /// - Throws: `malformed-request` if the data was not complete.
    func finish() throws(Problem) {
        guard hasEnded else { throw Problem(.malformedRequest, "The body ends before the end of its \(coding) data.") }
    }
}
