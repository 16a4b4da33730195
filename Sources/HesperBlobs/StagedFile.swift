import Foundation
import HesperStore
import NIOConcurrencyHelpers
import NIOCore

/// The file of one upload, and whose turn it is to append to it. Its calls block: they belong on a thread of a pool.
final class StagedFile: Sendable {
    let path: String
    /// The number of the last request that took the file over.
    private let turn = NIOLockedValueBox<UInt64>(0)

    init(_ path: String) { self.path = path }

    /// Ends the turn of whoever appends at this moment.
    /// - Returns: the new turn, and how many bytes there are; nil if there is no such file.
    func takeOver() throws -> (turn: UInt64, byteCount: Int64)? {
        try turn.withLockedValue { turn in
            turn += 1
            return try File.status(path).map { (turn, Int64($0.st_size)) }
        }
    }

    /// - Throws: ``UploadSuperseded`` if it is somebody else's turn.
    func write(_ buffer: ByteBuffer, at offset: Int64, turn mine: UInt64) throws {
        try during(mine) {
            try buffer.withUnsafeReadableBytes { bytes in
                try with(O_WRONLY) { try File.write(bytes, to: $0, at: offset, path) }
            }
        }
    }

    /// Takes back what was written beyond `offset`.
    func cut(at offset: Int64, turn mine: UInt64) throws {
        try during(mine) {
            _ = try File.call("cut", path) { truncate(path, off_t(offset)) }
            try with(O_WRONLY) { try File.sync($0, path) }
        }
    }

    /// Makes what was written durable.
    func sync() throws { try with(O_WRONLY) { try File.sync($0, path) } }

    private func during(_ mine: UInt64, _ body: () throws -> Void) throws {
        try turn.withLockedValue { turn in
            guard turn == mine else { throw UploadSuperseded() }
            try body()
        }
    }

    private func with(_ flags: Int32, _ body: (Int32) throws -> Void) throws {
        let descriptor = try File.open(path, flags)
        defer { close(descriptor) }
        try body(descriptor)
    }
}
