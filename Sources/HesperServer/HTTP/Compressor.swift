import CZlib
import NIOCore

/// Compresses a stream of bytes with zlib.
final class Compressor {
    private let stream: UnsafeMutablePointer<z_stream>

    /// The compression level. The fastest level reduces text to a third of its size, at 100 MB/s. A level that is half as fast
    /// would make the output only an eighth smaller.
    private static let level: Int32 = Z_BEST_SPEED

    init(_ coding: ContentCoding) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let result = deflateInit2_(
            stream, Compressor.level, Z_DEFLATED, coding.windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        precondition(result == Z_OK, "zlib is out of memory, or has an incompatible version")
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Compresses the next bytes of the stream.
    /// - Returns: the compressed bytes that are available so far. May be empty, because zlib collects input first.
    func compress(_ bytes: ByteBuffer) -> ByteBuffer { run(bytes, Z_NO_FLUSH) }

    /// Ends the stream and returns the rest of the compressed bytes. No other method may be called afterwards.
    func finish() -> ByteBuffer { run(ByteBuffer(), Z_FINISH) }

    private func run(_ bytes: ByteBuffer, _ flush: Int32) -> ByteBuffer {
        var output = ByteBuffer()
        bytes.withUnsafeReadableBytes { bytes in
            stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
            stream.pointee.avail_in = UInt32(bytes.count)
            repeat {
                output.writeWithUnsafeMutableBytes(minimumWritableBytes: 8 << 10) { space in
                    stream.pointee.next_out = space.bindMemory(to: UInt8.self).baseAddress
                    stream.pointee.avail_out = UInt32(space.count)
                    deflate(stream, flush)
                    return space.count - Int(stream.pointee.avail_out)
                }
            } while stream.pointee.avail_out == 0
        }
        return output
    }
}
