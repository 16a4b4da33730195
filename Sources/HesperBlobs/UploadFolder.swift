import Foundation
import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Uploads as files of a folder on this server's disk, each named by its ID; how long a file is says how far its upload is.
///
///     let stage = try UploadFolder(path: "data/uploads")
public final class UploadFolder: UploadStage {
    private let root: String
    private let pool: NIOThreadPool
    private let files = NIOLockedValueBox<[UniqueID: StagedFile]>([:])

    /// - Throws: ``StoreError`` if the folder can neither be found nor made.
    public init(path: String, pool: NIOThreadPool = .singleton) throws {
        root = path
        self.pool = pool
        try File.makeFolder(path)
    }

    public func path(of id: UniqueID) -> String { "\(root)/\(id)" }

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
        guard let (turn, byteCount) = try await pool.run({ try file.takeOver() }) else { throw UploadMissing() }
        guard byteCount == offset else { throw UploadMisplaced(offset: byteCount) }
        var end = offset
        var hasher = AttachmentHasher()
        var waiting = ByteBuffer()
        func writeWaiting() async throws {
            let (chunk, start) = (waiting, end)
            guard chunk.readableBytes > 0 else { return }
            try await pool.run { try file.write(chunk, at: start, turn: turn) }
            end += Int64(chunk.readableBytes)
            waiting = ByteBuffer()
        }
        do {
            for try await buffer in bytes {
                var buffer = buffer
                let room = limit - end - Int64(waiting.readableBytes)
                let isTooMuch = Int64(buffer.readableBytes) > room
                if isTooMuch { buffer.moveWriterIndex(to: buffer.readerIndex + Int(room)) }
                if check != nil { hasher.update(buffer) }
                waiting.writeImmutableBuffer(buffer)
                if isTooMuch { throw UploadTooLong() }
                if waiting.readableBytes >= File.chunk { try await writeWaiting() }
            }
            try await writeWaiting()
        } catch let error as UploadSuperseded {
            throw error
        } catch {
            // What arrived before the connection broke is kept: nobody sends it twice.
            try? await writeWaiting()
            try? await pool.run { try file.sync() }
            throw error
        }
        if let check {
            do {
                try check(hasher.data)
            } catch {
                try await pool.run { try file.cut(at: offset, turn: turn) }
                throw error
            }
        }
        try await pool.run { try file.sync() }
        return end
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
