import Foundation
import HesperStore
import NIOConcurrencyHelpers
import NIOCore

/// The file of one upload. Only the request that took over the file most recently may append to it. All methods block the thread,
/// so they must be called on a thread of a pool.
final class StagedFile: Sendable {
    let path: String
    /// The current generation: the number of times that a request has taken over the file. Writes with an earlier generation are
    /// refused.
    private let latest = NIOLockedValueBox<UInt64>(0)

    init(_ path: String) { self.path = path }

    /// Takes over the file. Writes of earlier requests are refused from now on.
    /// - Returns: the new generation and the size of the file; nil if the file does not exist.
    func takeOver() throws -> (generation: UInt64, byteCount: Int64)? {
        try latest.withLockedValue { latest in
            latest += 1
            return try File.status(path).map { (latest, Int64($0.st_size)) }
        }
    }

    /// Writes a buffer to the file at an offset.
    /// - Throws: ``UploadSuperseded`` if a later request has taken over the file.
    func write(_ buffer: ByteBuffer, at offset: Int64, generation: UInt64) throws {
        try whileCurrent(generation) {
            try buffer.withUnsafeReadableBytes { bytes in
                try with(O_WRONLY) { try File.write(bytes, to: $0, at: offset, path) }
            }
        }
    }

    /// Discards the bytes from `offset` to the end of the file.
    func truncate(at offset: Int64, generation: UInt64) throws {
        try whileCurrent(generation) {
            _ = try File.call("truncate", path) { Foundation.truncate(path, off_t(offset)) }
            try with(O_WRONLY) { try File.sync($0, path) }
        }
    }

    /// Makes all written bytes durable.
    func sync() throws { try with(O_WRONLY) { try File.sync($0, path) } }

    private func whileCurrent(_ generation: UInt64, _ body: () throws -> Void) throws {
        try latest.withLockedValue { latest in
            guard latest == generation else { throw UploadSuperseded() }
            try body()
        }
    }

    private func with(_ flags: Int32, _ body: (Int32) throws -> Void) throws {
        let descriptor = try File.open(path, flags)
        defer { close(descriptor) }
        try body(descriptor)
    }
}
