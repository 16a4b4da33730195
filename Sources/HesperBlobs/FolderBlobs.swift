import Foundation
import HesperModel
import HesperStore
import NIOCore
import NIOPosix

/// Stores blobs as files in a folder (storage.md, Attachment data).
///
/// A file is written with a temporary name, synced, and then renamed. Therefore a crash never leaves a partial file with the name
/// of a blob.
///
///     let blobs = try FolderBlobs(path: "data/attachments")
public struct FolderBlobs: BlobStore {
    private let root: String
    private let pool: NIOThreadPool

    /// The subfolder for files that are being written. It is in the folder of the blobs, because a file can be renamed only
    /// within one file system.
    private static let unfinished = "unfinished"
    private var unfinished: String { "\(root)/\(FolderBlobs.unfinished)" }

    /// - Throws: ``StoreError`` if the folder cannot be opened or created.
    public init(path: String, pool: NIOThreadPool = .singleton) throws {
        root = path
        self.pool = pool
        try File.makeFolder(unfinished)
    }

    private func path(of name: BlobName) -> String { "\(root)/\(name.path)" }

    // MARK: Writing

    public func write<Bytes: AsyncSequence & Sendable>(
        _ name: BlobName, _ bytes: Bytes, checking check: @escaping @Sendable (AttachmentData) throws -> Void
    ) async throws -> AttachmentData where Bytes.Element == ByteBuffer {
        let path = "\(unfinished)/\(UUID().uuidString)"
        var writer = try await pool.run { try FileWriter(path) }
        defer { writer.end() }
        do {
            for try await chunk in Chunks(bytes, of: File.chunk) {
                writer = try await pool.run { [writer] in try writer.appending(chunk) }
            }
            return try await pool.run { [writer] in
                let data = try writer.finished()
                try check(data)
                try put(path, as: name, with: rename)
                return data
            }
        } catch {
            _ = try? await pool.run { try File.remove(path) }
            throw error
        }
    }

    /// Stores the file as a blob. Creates a hard link to the file if the file and the blobs are on the same file system. Otherwise,
    /// copies the file.
    public func adopt(
        _ path: String, as name: BlobName, checking check: @escaping @Sendable (AttachmentData) throws -> Void
    ) async throws -> AttachmentData {
        let file = try await pool.run { try FileReader(path) }
        let isOnSameFileSystem = try await pool.run { try File.status(path)?.st_dev == File.status(root)?.st_dev }
        guard isOnSameFileSystem else {
            return try await write(name, file.bytes(0..<Int64.max, pool: pool), checking: check)
        }
        return try await pool.run {
            var hasher = AttachmentHasher()
            try file.read { hasher.update($0) }
            try check(hasher.data)
            try put(path, as: name, with: link)
            return hasher.data
        }
    }

    /// Creates the file of a blob by linking or renaming the file at `path`, which must already be durable.
    private func put(
        _ path: String, as name: BlobName, with call: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32
    ) throws {
        let final = self.path(of: name)
        let folder = File.parent(of: final)
        // A task that removes the last blob in a folder also removes the folder. If this happens before the file is created, the
        // folder is created again.
        for attempt in 0...File.attempts {
            try File.makeFolder(folder)
            if call(path, final) == 0 { return try File.syncFolder(folder) }
            guard errno == ENOENT, attempt < File.attempts else { throw File.error("create", final, errno) }
        }
    }

    // MARK: Reading

    public func read(_ name: BlobName, _ range: Range<Int64>) async throws -> BlobBytes {
        let path = path(of: name)
        return try await pool.run {
            guard try File.status(path) != nil else { throw BlobMissing(name) }
            let file = try FileReader(path)
            let first = try file.read(
                Int(clamping: min(Int64(File.chunk), range.upperBound - range.lowerBound)), at: range.lowerBound)
            return file.bytes(range, first: first, pool: pool)
        }
    }

    public func byteCount(of name: BlobName) async throws -> Int64? {
        let path = path(of: name)
        return try await pool.run { try File.status(path).map { Int64($0.st_size) } }
    }

    public func entries(_ body: (BlobEntry) async throws -> Void) async throws {
        for scope in try await folder("") where scope != FolderBlobs.unfinished {
            for digits in try await folder(scope) {
                let folder = "\(scope)/\(digits)"
                let entries = try await pool.run {
                    try File.list("\(root)/\(folder)").compactMap { try entry("\(folder)/\($0)") }
                }
                for entry in entries { try await body(entry) }
            }
        }
    }

    /// The names of the subfolders of a folder.
    private func folder(_ path: String) async throws -> [String] {
        let path = "\(root)/\(path)"
        return try await pool.run { try File.list(path).filter { try File.isFolder("\(path)/\($0)") } }
    }

    private func entry(_ path: String) throws -> BlobEntry? {
        try File.status("\(root)/\(path)").map {
            BlobEntry(path: path, byteCount: Int64($0.st_size), date: Timestamp($0))
        }
    }

    // MARK: Removing

    public func remove(_ name: BlobName) async throws {
        let path = path(of: name)
        try await pool.run {
            guard try File.remove(path) else { return }
            // Folders that have become empty are removed too. For other folders, rmdir fails, which is not an error.
            let folder = File.parent(of: path)
            if rmdir(folder) == 0 { rmdir(File.parent(of: folder)) }
        }
    }

    public func removeUnfinished(before date: Timestamp) async throws -> Int {
        try await pool.run {
            try File.list(unfinished).count { name in
                let path = "\(unfinished)/\(name)"
                guard let status = try File.status(path), Timestamp(status) < date else { return false }
                return try File.remove(path)
            }
        }
    }

    // MARK: The marker

    public func marker() async throws -> [UInt8]? {
        try await pool.run { try PrivateFolder(path: root).contents(of: BlobMarker.path) }
    }

    public func setMarker(_ bytes: [UInt8]) async throws {
        try await pool.run { try PrivateFolder(path: root).put(bytes, as: BlobMarker.path) }
    }
}
