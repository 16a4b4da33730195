import Foundation
import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Stores uploads as files on this server's disk. The name of a file is the ID of the upload, and the size of the file is the
/// current length of the upload.
///
///     let stage = try UploadFolder(path: "data/uploads")
public final class UploadFolder: UploadStage {
    private let root: String
    private let pool: NIOThreadPool
    private let files = NIOLockedValueBox<[UniqueID: StagedFile]>([:])

    /// - Throws: ``StoreError`` if the folder cannot be opened or created.
    public init(path: String, pool: NIOThreadPool = .singleton) throws {
        root = path
        self.pool = pool
        try File.makeFolder(path)
    }

    private func path(of id: UniqueID) -> String { "\(root)/\(id)" }

    public func create(_ id: UniqueID) async throws {
        let path = path(of: id)
        try await pool.run { [root] in
            close(try File.open(path, O_WRONLY | O_CREAT | O_EXCL))
            try File.syncFolder(root)
        }
    }

    public func byteCount(of id: UniqueID) async throws -> Int64? {
        let file = file(of: id)
        return try await pool.run { try file.takeOver()?.byteCount }
    }

    public func append<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, to id: UniqueID, at offset: Int64, limit: Int64,
        checking check: (@Sendable (AttachmentData) throws -> Void)?
    ) async throws -> Int64 where Bytes.Element == ByteBuffer {
        let file = file(of: id)
        guard let (generation, byteCount) = try await pool.run({ try file.takeOver() }) else { throw UploadMissing() }
        guard byteCount == offset else { throw UploadOffsetMismatch(offset: byteCount) }
        do {
            let end = try await gather(bytes, at: offset, limit: limit, partBytes: File.chunk, checking: check) {
                part, start in
                try await pool.run { try file.write(part, at: start, generation: generation) }
            } cutting: {
                try await pool.run { try file.truncate(at: offset, generation: generation) }
            }
            try await pool.run { try file.sync() }
            return end
        } catch let error as UploadSuperseded {
            throw error
        } catch {
            try? await pool.run { try file.sync() }
            throw error
        }
    }

    public func copy(
        _ id: UniqueID, to blobs: any BlobStore, as name: BlobName,
        checking check: @escaping @Sendable (AttachmentData) throws -> Void
    ) async throws -> AttachmentData {
        let path = path(of: id)
        guard try await pool.run({ try File.status(path) }) != nil else { throw UploadMissing() }
        return try await blobs.adopt(path, as: name, checking: check)
    }

    public func write(_ id: UniqueID, to path: String) async throws {
        let source = self.path(of: id)
        try await pool.run {
            guard try File.status(source) != nil else { throw UploadMissing() }
            // A hard link takes no space. If `path` is on another file system, linking fails, and the file is copied.
            if link(source, path) == 0 { return }
            try FileManager.default.copyItem(atPath: source, toPath: path)
        }
    }

    public func remove(_ id: UniqueID) async throws {
        let path = path(of: id)
        files.withLockedValue { $0[id] = nil }
        try await pool.run { _ = try File.remove(path) }
    }

    public func all() async throws -> [UniqueID] {
        try await pool.run { [root] in try File.list(root).compactMap { UniqueID($0) } }
    }

    private func file(of id: UniqueID) -> StagedFile {
        files.withLockedValue { files in
            if let file = files[id] { return file }
            let file = StagedFile(path(of: id))
            files[id] = file
            return file
        }
    }
}
