import Foundation
import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A file that is read from anywhere; closed when nobody has it any more.
final class FileReader: Sendable {
    private let path: String
    private let descriptor: Int32

    init(_ path: String) throws {
        self.path = path
        descriptor = try File.open(path, O_RDONLY)
    }

    deinit { close(descriptor) }

    /// At most so many bytes from an offset; none at the end of the file. Blocks.
    func read(_ count: Int, at offset: Int64) throws -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: count)
        try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
            let room = UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(count))
            return try File.read(room, from: descriptor, at: offset, path)
        }
        return buffer
    }

    /// Gives the whole file, piece by piece. Blocks.
    func read(_ body: (ByteBuffer) throws -> Void) throws {
        var offset: Int64 = 0
        while case let buffer = try read(File.chunk, at: offset), buffer.readableBytes > 0 {
            try body(buffer)
            offset += Int64(buffer.readableBytes)
        }
    }

    /// A part of the file, read piece by piece on a thread of a pool.
    /// - Parameters:
    ///   - first: bytes that have been read already, where the part begins.
    func bytes(_ range: Range<Int64>, first: ByteBuffer? = nil, pool: NIOThreadPool) -> BlobBytes {
        let state = NIOLockedValueBox((offset: range.lowerBound, first: first))
        return BlobBytes {
            let (offset, first) = state.withLockedValue { state in
                defer { state.first = nil }
                return (state.offset, state.first)
            }
            let wanted = Int(clamping: min(Int64(File.chunk), range.upperBound - offset))
            guard wanted > 0 else { return nil }
            let buffer = try await first == nil ? pool.run { try self.read(wanted, at: offset) } : first
            guard let buffer, buffer.readableBytes > 0 else { return nil }
            state.withLockedValue { $0.offset += Int64(buffer.readableBytes) }
            return buffer
        }
    }
}
