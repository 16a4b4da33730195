import Foundation
import HesperModel
import HesperStore

/// The calls of the operating system that blobs need, with errors that say what could not be done.
enum File {
    /// Bytes moved at once: enough that a thread's change costs little beside it.
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

    /// - Returns: how many bytes there were; 0 at the end.
    static func read(_ bytes: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int64, _ path: String)
        throws -> Int
    {
        try call("read", path) { pread(descriptor, bytes.baseAddress, bytes.count, off_t(offset)) }
    }

    /// - Returns: nil if there is no such file.
    static func status(_ path: String) throws -> stat? {
        var status = stat()
        guard lstat(path, &status) != 0 else { return status }
        guard errno == ENOENT || errno == ENOTDIR else { throw error("look at", path, errno) }
        return nil
    }

    static func sync(_ descriptor: Int32, _ path: String) throws {
        _ = try call("fsync", path) { fsync(descriptor) }
    }

    /// Writes a new file, durably.
    static func write(_ bytes: [UInt8], toNew path: String) throws {
        let descriptor = try open(path, O_WRONLY | O_CREAT | O_EXCL)
        defer { close(descriptor) }
        try bytes.withUnsafeBytes { try write($0, to: descriptor, at: 0, path) }
        try sync(descriptor, path)
    }

    /// Gives a file another name, in place of what has that. It is durable when the folder is.
    static func rename(_ path: String, _ final: String) throws {
        _ = try call("rename", path) { Foundation.rename(path, final) }
    }

    /// Makes what was made, renamed or removed in a folder durable.
    static func syncFolder(_ path: String) throws {
        guard try syncFolderIfAny(path) else { throw error("open", path, ENOENT) }
    }

    /// - Returns: whether there is such a folder.
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

    /// Makes a folder, and those that lead to it, for their owner's eyes only; durable when it returns.
    static func makeFolder(_ path: String) throws {
        let parent = parent(of: path)
        // Whoever finds a folder empty may remove it, between its being made and being used.
        for attempt in 0...attempts {
            let code = mkdir(path, 0o700) == 0 ? 0 : errno
            switch code {
            case EEXIST: return
            case 0: if try syncFolderIfAny(parent) { return }
            case ENOENT where attempt < attempts: try makeFolder(parent)
            default: throw error("make", path, code)
            }
        }
        throw error("make", path, ENOENT)
    }

    /// How often something is done again that somebody else has undone meanwhile.
    static let attempts = 10

    static func parent(of path: String) -> String {
        let parent = URL(filePath: path).deletingLastPathComponent().relativePath
        return parent.isEmpty ? "." : parent
    }

    /// The names in a folder; none, if there is no such folder.
    static func list(_ path: String) throws -> [String] {
        guard try status(path) != nil else { return [] }
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw StoreError.unavailable("list \(path): \(error.localizedDescription)")
        }
    }

    static func isFolder(_ path: String) throws -> Bool {
        try status(path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
    }

    /// - Returns: whether there was one.
    @discardableResult
    static func remove(_ path: String) throws -> Bool {
        guard unlink(path) != 0 else { return true }
        guard errno == ENOENT || errno == ENOTDIR else { throw error("remove", path, errno) }
        return false
    }

    static func call<Number: FixedWidthInteger & SignedInteger>(
        _ what: String, _ path: String, _ body: () -> Number
    ) throws -> Number {
        while true {
            let result = body()
            if result >= 0 { return result }
            guard errno == EINTR else { throw error(what, path, errno) }
        }
    }

    static func error(_ what: String, _ path: String, _ code: Int32) -> StoreError {
        let text = "\(what) \(path): \(String(cString: strerror(code)))"
        return code == ENOSPC || code == EDQUOT || code == EFBIG ? .full(text) : .unavailable(text)
    }
}

extension Timestamp {
    /// When a file was last written.
    init(_ status: stat) {
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        self.init(clamping: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
