import Foundation
import HesperModel
import HesperStore
import NIOCore

extension BackupFolder {
    /// The path of the file with these bytes. The name of its subfolder consists of the first two hex digits of the digest, so
    /// that no folder has more than a few thousand entries.
    private func path(of data: AttachmentData) -> String {
        inside("\(BackupFolder.attachments)/\(data.sha256.prefix(2))/\(data.sha256)")
    }

    /// Whether the folder contains a file for these bytes and the file has the right size. The contents of the file are not read.
    public func contains(_ data: AttachmentData) async throws -> Bool {
        let path = path(of: data)
        return try await pool.run { try File.status(path).map { Int64($0.st_size) } == data.byteCount }
    }

    /// Stores the bytes in a file whose name is their digest. The file is durable when this returns. If the bytes do not match
    /// the digest in `data`, nothing is stored.
    /// - Returns: whether the bytes match the digest.
    public func store<Bytes: AsyncSequence & Sendable>(_ data: AttachmentData, _ bytes: Bytes) async throws -> Bool
    where Bytes.Element == ByteBuffer {
        let (new, final) = ("\(unfinished)/\(UUID().uuidString)", path(of: data))
        var writer = try await pool.run { try FileWriter(new) }
        defer { writer.end() }
        do {
            for try await chunk in Chunks(bytes, of: File.chunk) {
                writer = try await pool.run { [writer] in try writer.appending(chunk) }
            }
            return try await pool.run { [writer] in
                guard try writer.finished() == data else {
                    try File.remove(new)
                    return false
                }
                try File.makeFolder(File.parent(of: final))
                try File.rename(new, final)
                try File.syncFolder(File.parent(of: final))
                return true
            }
        } catch {
            _ = try? await pool.run { try File.remove(new) }
            throw error
        }
    }

    /// Adds a hard link to the file with the same bytes in an earlier backup. The link becomes durable only when the backup is
    /// finished.
    /// - Returns: false if the earlier backup does not contain the bytes, or if its file cannot be linked. In that case, the
    ///   caller must copy the bytes.
    public func link(_ data: AttachmentData, from earlier: BackupFolder) async throws -> Bool {
        let (old, new) = (earlier.path(of: data), path(of: data))
        return try await pool.run {
            guard try File.status(old).map({ Int64($0.st_size) }) == data.byteCount else { return false }
            try File.makeFolder(File.parent(of: new))
            guard Foundation.link(old, new) != 0 else { return true }
            switch errno {
            case EXDEV, EPERM, EMLINK, EEXIST, ENOSYS, ENOTSUP, EOPNOTSUPP: return false
            default: throw File.error("link", new, errno)
            }
        }
    }

    func syncLinks() throws {
        let attachments = inside(BackupFolder.attachments)
        for digits in try File.list(attachments) where try File.isFolder("\(attachments)/\(digits)") {
            try File.syncFolder("\(attachments)/\(digits)")
        }
    }

    /// The digests and sizes of the files in the folder. The digests are taken from the file names; the contents of the files are
    /// not read.
    public func files() async throws -> [AttachmentData] {
        let attachments = inside(BackupFolder.attachments)
        return try await pool.run {
            try File.list(attachments).filter { try File.isFolder("\(attachments)/\($0)") }.flatMap { digits in
                try File.list("\(attachments)/\(digits)").compactMap { name in
                    try File.status("\(attachments)/\(digits)/\(name)").map {
                        AttachmentData(byteCount: Int64($0.st_size), sha256: name)
                    }
                }
            }
        }
    }

    /// The stored bytes for this digest. They are not compared with the digest.
    public func bytes(_ data: AttachmentData) async throws -> BlobBytes {
        let path = path(of: data)
        return try await pool.run {
            guard try File.status(path) != nil else { throw missingBytes(data) }
            return try FileReader(path).bytes(0..<data.byteCount, pool: pool)
        }
    }

    /// Reads the file with this digest and compares its bytes with the digest. Returns the damage; nil if the bytes are intact.
    public func damage(to data: AttachmentData) async throws -> BackupDamaged? {
        let path = path(of: data)
        return try await pool.run {
            guard try File.status(path).map({ Int64($0.st_size) }) == data.byteCount else { return missingBytes(data) }
            return try BackupFolder.hash(path) == data ? nil : corruptBytes(data)
        }
    }

    /// The error for bytes that are missing or truncated.
    public func missingBytes(_ data: AttachmentData) -> BackupDamaged {
        BackupDamaged("\(path(of: data)) is missing or truncated.")
    }

    /// The error for bytes that do not match their digest.
    public func corruptBytes(_ data: AttachmentData) -> BackupDamaged {
        BackupDamaged("\(path(of: data)) does not match its SHA-256.")
    }

    func removeBytes(except digests: Set<String>) throws {
        let attachments = inside(BackupFolder.attachments)
        for digits in try File.list(attachments) where try File.isFolder("\(attachments)/\(digits)") {
            let folder = "\(attachments)/\(digits)"
            for name in try File.list(folder) where !digests.contains(name) { try File.remove("\(folder)/\(name)") }
            // The subfolder is removed if it is empty. Otherwise, rmdir fails, which is not an error.
            rmdir(folder)
        }
    }
}
