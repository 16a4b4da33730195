import Foundation
import HesperModel
import HesperStore
import NIOCore

/// A new file on its way to be a blob, hashed as it is written. Its calls block: they belong on a thread of a pool.
struct FileWriter: Sendable {
    private let path: String
    private let descriptor: Int32
    private var hasher = AttachmentHasher()

    init(_ path: String) throws {
        self.path = path
        descriptor = try File.open(path, O_WRONLY | O_CREAT | O_EXCL)
    }

    /// The same writer, some bytes further on.
    func appending(_ buffer: ByteBuffer) throws -> FileWriter {
        var next = self
        try buffer.withUnsafeReadableBytes { bytes in
            try File.write(bytes, to: descriptor, at: hasher.byteCount, path)
            next.hasher.update(bytes)
        }
        return next
    }

    /// Makes what was written durable.
    func finished() throws -> AttachmentData {
        try File.sync(descriptor, path)
        return hasher.data
    }

    func end() { close(descriptor) }
}
