import Foundation
import HesperModel
import HesperStore
import NIOCore

extension BackupFolder {
    /// Two hex digits between, so that no folder has more than a few thousand entries.
    private func path(of data: AttachmentData) -> String {
        inside("\(BackupFolder.attachments)/\(data.sha256.prefix(2))/\(data.sha256)")
    }

    /// Whether bytes with this digest are there, as many as there should be. They are not read.
    public func holds(_ data: AttachmentData) async throws -> Bool {
        let path = path(of: data)
        return try await pool.run { try File.status(path).map { Int64($0.st_size) } == data.byteCount }
    }

    /// Keeps bytes under their digest, durably and whole, or not at all.
    /// - Returns: whether they were those that the digest is of; else nothing is kept.
    public func keep<Bytes: AsyncSequence & Sendable>(_ data: AttachmentData, _ bytes: Bytes) async throws -> Bool
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

    /// Keeps bytes that another backup has, as one more name of its file. It is durable when the backup is finished.
    /// - Returns: false if that has none of this size, or its file cannot have another name here: then they are to be copied.
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

    /// The files that are there: the digest that each is named by, and its size. They are not read.
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

    /// The bytes with a digest. Whether they are still those, only who reads them all can tell.
    public func bytes(_ data: AttachmentData) async throws -> BlobBytes {
        let path = path(of: data)
        return try await pool.run {
            guard try File.status(path) != nil else { throw lack(of: data) }
            return try FileReader(path).bytes(0..<data.byteCount, pool: pool)
        }
    }

    /// What is wrong with the bytes that have a digest; nil if they are there and are the right ones. Reads them all.
    public func damage(to data: AttachmentData) async throws -> BackupDamaged? {
        let path = path(of: data)
        return try await pool.run {
            guard try File.status(path).map({ Int64($0.st_size) }) == data.byteCount else { return lack(of: data) }
            return try BackupFolder.hash(path) == data ? nil : damage(data)
        }
    }

    /// What to say of bytes that are not there, or not all.
    public func lack(of data: AttachmentData) -> BackupDamaged {
        BackupDamaged("\(path(of: data)) is missing, or cut short.")
    }

    /// What to say of bytes that are not what their name says.
    public func damage(_ data: AttachmentData) -> BackupDamaged {
        BackupDamaged("\(path(of: data)) has other bytes than its name says.")
    }

    func removeBytes(except digests: Set<String>) throws {
        let attachments = inside(BackupFolder.attachments)
        for digits in try File.list(attachments) where try File.isFolder("\(attachments)/\(digits)") {
            let folder = "\(attachments)/\(digits)"
            for name in try File.list(folder) where !digests.contains(name) { try File.remove("\(folder)/\(name)") }
            // An empty folder goes too; that it is not empty is no error.
            rmdir(folder)
        }
    }
}
