import Foundation
import HesperModel
import HesperStore

/// Wrappers of system calls. The errors that they throw contain the operation and the path.
enum File {
    /// The number of bytes per read or write. It is so large that the cost of a thread switch does not matter.
    static let chunk = 512 << 10

    static func open(_ path: String, _ flags: Int32, _ mode: mode_t = 0o600) throws -> Int32 {
        try call("open", path) { Foundation.open(path, flags | O_CLOEXEC, mode) }
    }

    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int64, _ path: String) throws {
        var done = 0
        while done < bytes.count {
            done += try call("write", path) {
                pwrite(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done, off_t(offset) + done)
            }
        }
    }

    /// Reads bytes of an open file at an offset.
    /// - Returns: the number of bytes that were read; 0 at the end of the file.
    static func read(_ bytes: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int64, _ path: String)
        throws -> Int
    {
        try call("read", path) { pread(descriptor, bytes.baseAddress, bytes.count, off_t(offset)) }
    }

    /// The status of a file.
    /// - Returns: nil if the file does not exist.
    static func status(_ path: String) throws -> stat? {
        var status = stat()
        guard lstat(path, &status) != 0 else { return status }
        guard errno == ENOENT || errno == ENOTDIR else { throw error("stat", path, errno) }
        return nil
    }

    static func sync(_ descriptor: Int32, _ path: String) throws {
        _ = try call("fsync", path) { fsync(descriptor) }
    }

    /// Creates a file with these contents and syncs the file.
    static func write(_ bytes: [UInt8], toNew path: String) throws {
        let descriptor = try open(path, O_WRONLY | O_CREAT | O_EXCL)
        defer { close(descriptor) }
        try bytes.withUnsafeBytes { try write($0, to: descriptor, at: 0, path) }
        try sync(descriptor, path)
    }

    /// Renames a file. If the new path exists, it is replaced. The new name is durable only after a call of ``syncFolder(_:)``.
    static func rename(_ path: String, _ final: String) throws {
        _ = try call("rename", path) { Foundation.rename(path, final) }
    }

    /// Syncs a folder, so that its created, renamed and removed entries are durable.
    static func syncFolder(_ path: String) throws {
        guard try syncFolderIfAny(path) else { throw error("open", path, ENOENT) }
    }

    /// Syncs a folder if it exists.
    /// - Returns: whether the folder exists.
    private static func syncFolderIfAny(_ path: String) throws -> Bool {
        let descriptor = Foundation.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw error("open", path, errno) }
            return false
        }
        defer { close(descriptor) }
        try sync(descriptor, path)
        return true
    }

    /// Creates a folder, and the parent folders that do not exist. Only the owner can access the new folders. They are durable when
    /// this function returns.
    static func makeFolder(_ path: String) throws {
        let parent = parent(of: path)
        // Another process may remove a new folder while it is empty, so the creation is retried.
        for attempt in 0...attempts {
            let code = mkdir(path, 0o700) == 0 ? 0 : errno
            switch code {
            case EEXIST: return
            case 0: if try syncFolderIfAny(parent) { return }
            case ENOENT where attempt < attempts: try makeFolder(parent)
            default: throw error("create", path, code)
            }
        }
        throw error("create", path, ENOENT)
    }

    /// The maximum number of retries when another process removes a folder that was just created.
    static let attempts = 10

    static func parent(of path: String) -> String {
        let parent = URL(filePath: path).deletingLastPathComponent().relativePath
        return parent.isEmpty ? "." : parent
    }

    /// The names of the entries of a folder; empty if the folder does not exist.
    static func list(_ path: String) throws -> [String] {
        guard try status(path) != nil else { return [] }
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw StoreError.unavailable("cannot list \(path): \(error.localizedDescription)")
        }
    }

    static func isFolder(_ path: String) throws -> Bool {
        try status(path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
    }

    /// Removes a file. Does nothing if the file does not exist.
    /// - Returns: whether the file existed.
    @discardableResult
    static func remove(_ path: String) throws -> Bool {
        guard unlink(path) != 0 else { return true }
        guard errno == ENOENT || errno == ENOTDIR else { throw error("remove", path, errno) }
        return false
    }

    static func call<Number: FixedWidthInteger & SignedInteger>(
        _ operation: String, _ path: String, _ body: () -> Number
    ) throws -> Number {
        while true {
            let result = body()
            if result >= 0 { return result }
            guard errno == EINTR else { throw error(operation, path, errno) }
        }
    }

    static func error(_ operation: String, _ path: String, _ code: Int32) -> StoreError {
        let text = "cannot \(operation) \(path): \(String(cString: strerror(code)))"
        return code == ENOSPC || code == EDQUOT || code == EFBIG ? .full(text) : .unavailable(text)
    }
}

extension Timestamp {
    /// The modification time of a file.
    init(_ status: stat) {
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        self.init(clamping: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
