import Foundation
import HesperModel
import HesperStore
import NIOCore

/// Writes a new file and calculates the hash of its contents. All methods block the thread, so they must be called on a thread of
/// a pool.
struct FileWriter: Sendable {
    private let path: String
    private let descriptor: Int32
    private var hasher = AttachmentHasher()

    init(_ path: String) throws {
        self.path = path
        descriptor = try File.open(path, O_WRONLY | O_CREAT | O_EXCL)
    }

    /// Appends a buffer, and returns a writer with the new offset and the new state of the hash.
    func appending(_ buffer: ByteBuffer) throws -> FileWriter {
        var next = self
        try buffer.withUnsafeReadableBytes { bytes in
            try File.write(bytes, to: descriptor, at: hasher.byteCount, path)
            next.hasher.update(bytes)
        }
        return next
    }

    /// Syncs the file after its last bytes were written.
    /// - Returns: the size and digest of its contents.
    func finished() throws -> AttachmentData {
        try File.sync(descriptor, path)
        return hasher.data
    }

    func end() { close(descriptor) }
}
