import Foundation
import HesperStore
import NIOConcurrencyHelpers
import NIOCore

/// The file of one upload. Only the latest request may append to it. All methods block, so call them on a thread of a pool.
final class StagedFile: Sendable {
    let path: String
    /// Incremented by each request that takes over the file. Writes of earlier requests are refused.
    private let latest = NIOLockedValueBox<UInt64>(0)

    init(_ path: String) { self.path = path }

    /// Ends the access of an earlier request.
    /// - Returns: the new generation and the size of the file. Nil if the file does not exist.
    func takeOver() throws -> (generation: UInt64, byteCount: Int64)? {
        try latest.withLockedValue { latest in
            latest += 1
            return try File.status(path).map { (latest, Int64($0.st_size)) }
        }
    }

    /// - Throws: ``UploadSuperseded`` if a later request has taken over the file.
    func write(_ buffer: ByteBuffer, at offset: Int64, generation: UInt64) throws {
        try whileCurrent(generation) {
            try buffer.withUnsafeReadableBytes { bytes in
                try with(O_WRONLY) { try File.write(bytes, to: $0, at: offset, path) }
            }
        }
    }

    /// Discards the bytes from `offset` on.
    func truncate(at offset: Int64, generation: UInt64) throws {
        try whileCurrent(generation) {
            _ = try File.call("truncate", path) { Foundation.truncate(path, off_t(offset)) }
            try with(O_WRONLY) { try File.sync($0, path) }
        }
    }

    /// Makes written bytes durable.
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
