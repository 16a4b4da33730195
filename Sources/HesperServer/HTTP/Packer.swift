import CZlib
import NIOCore

/// Packs bytes as they come.
final class Packer {
    private let stream: UnsafeMutablePointer<z_stream>

    /// The fastest: text becomes a third of its size at 100 MB/s, and half as fast only an eighth less.
    private static let level: Int32 = Z_BEST_SPEED

    init(_ coding: ContentCoding) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let result = deflateInit2_(
            stream, Packer.level, Z_DEFLATED, coding.windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        precondition(result == Z_OK, "zlib has no memory, or is another version")
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// What comes out for now; perhaps nothing yet.
    func pack(_ bytes: ByteBuffer) -> ByteBuffer { run(bytes, Z_NO_FLUSH) }

    /// The rest. After it, nothing may come in.
    func finish() -> ByteBuffer { run(ByteBuffer(), Z_FINISH) }

    private func run(_ bytes: ByteBuffer, _ flush: Int32) -> ByteBuffer {
        var packed = ByteBuffer()
        bytes.withUnsafeReadableBytes { bytes in
            stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
            stream.pointee.avail_in = UInt32(bytes.count)
            repeat {
                packed.writeWithUnsafeMutableBytes(minimumWritableBytes: 8 << 10) { room in
                    stream.pointee.next_out = room.bindMemory(to: UInt8.self).baseAddress
                    stream.pointee.avail_out = UInt32(room.count)
                    deflate(stream, flush)
                    return room.count - Int(stream.pointee.avail_out)
                }
            } while stream.pointee.avail_out == 0
        }
        return packed
    }
}
