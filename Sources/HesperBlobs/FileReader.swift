import Foundation
import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A file that is open for reading at any offset. The file is closed on deinitialization.
final class FileReader: Sendable {
    private let path: String
    private let descriptor: Int32

    init(_ path: String) throws {
        self.path = path
        descriptor = try File.open(path, O_RDONLY)
    }

    deinit { close(descriptor) }

    /// Reads at most `count` bytes. Returns an empty buffer at the end of the file. This function blocks the thread.
    func read(_ count: Int, at offset: Int64) throws -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: count)
        try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
            let room = UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(count))
            return try File.read(room, from: descriptor, at: offset, path)
        }
        return buffer
    }

    /// Reads the whole file and passes it to `body` in pieces. This function blocks the thread.
    func read(_ body: (ByteBuffer) throws -> Void) throws {
        var offset: Int64 = 0
        while case let buffer = try read(File.chunk, at: offset), buffer.readableBytes > 0 {
            try body(buffer)
            offset += Int64(buffer.readableBytes)
        }
    }

    /// Returns the bytes of a range of the file. They are read piece by piece on threads of `pool`.
    /// - Parameter first: the bytes at the start of the range, if they have already been read; otherwise nil.
    func bytes(_ range: Range<Int64>, first: ByteBuffer? = nil, pool: NIOThreadPool) -> BlobBytes {
        let state = NIOLockedValueBox((offset: range.lowerBound, first: first))
        return BlobBytes {
            let (offset, first) = state.withLockedValue { state in
                defer { state.first = nil }
                return (state.offset, state.first)
            }
            let length = Int(clamping: min(Int64(File.chunk), range.upperBound - offset))
            guard length > 0 else { return nil }
            let buffer = try await first == nil ? pool.run { try self.read(length, at: offset) } : first
            guard let buffer, buffer.readableBytes > 0 else { return nil }
            state.withLockedValue { $0.offset += Int64(buffer.readableBytes) }
            return buffer
        }
    }
}
