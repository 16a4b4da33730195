import CFolder
import Foundation
import HesperModel

/// Reads and writes the files of a synced folder. Symbolic links are never followed, so no path leads out of the folder.
final class Folder: Sendable {
    /// The path of the folder, without symbolic links.
    let path: String
    /// The device number of the file system on which the folder is.
    private let device: UInt64

    /// The error for a failed operation on a file or a folder.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let code: Int32
        var description: String {
            let isFull = code == ENOSPC || code == EDQUOT
            return "\(path): \(String(cString: strerror(code)))"
                + (isFull ? ". Free some space. Nothing is lost: the file is written by a later run." : "")
        }
    }

    /// Opens the folder at a path.
    /// - Throws: ``Failure`` if there is no such folder.
    init(_ path: String) throws {
        guard let real = realpath(path, nil) else { throw Failure(path: path, code: errno) }
        defer { free(real) }
        self.path = String(cString: real)
        var status = folder_file()
        guard folder_stat(AT_FDCWD, self.path, &status) == 0 else { throw Failure(path: path, code: errno) }
        device = status.device
    }

    func stamp(_ file: folder_file) -> FileStamp {
        FileStamp(
            size: file.size, inode: file.inode, modified: file.modified, changed: file.changed, born: file.born,
            isMounted: file.device != device)
    }

    /// Whether the file system treats names that differ in case as equal.
    var foldsNames: Bool { (try? stamp(Marker.folderName.uppercased())) ?? nil != nil }

    var name: String { NotePath.name(of: path) }

    /// The current time, in nanoseconds since 1970.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    var ignoreRules: IgnoreRules {
        guard let (bytes, _) = try? read(".hesperignore") else { return IgnoreRules() }
        return IgnoreRules(String(decoding: bytes, as: UTF8.self))
    }

    // MARK: Opening

    /// Opens a folder by its path, which is relative to this folder. The caller must close the returned descriptor.
    func open(_ path: String, creating: Bool = false) throws -> Int32 {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        var descriptor = try check(self.path) { systemOpen(self.path, flags) }
        for name in path.split(separator: "/").map(String.init) {
            let parent = descriptor
            defer { close(parent) }
            if creating, mkdirat(parent, name, 0o777) != 0, errno != EEXIST { throw Failure(path: path, code: errno) }
            descriptor = try check(path) { openat(parent, name, flags | O_NOFOLLOW) }
        }
        return descriptor
    }

    private func withParent<R>(
        of path: String, creating: Bool = false, _ body: (_ parent: Int32, _ name: String) throws -> R
    ) throws -> R {
        let parent = try open(NotePath.folders(of: path).joined(separator: "/"), creating: creating)
        defer { close(parent) }
        return try body(parent, NotePath.name(of: path))
    }

    @discardableResult
    private func check(_ path: String, _ call: () -> Int32) throws -> Int32 {
        let result = call()
        guard result >= 0 else { throw Failure(path: path, code: errno) }
        return result
    }

    /// The names in an open folder; nil for a name that is not valid UTF-8.
    static func names(in descriptor: Int32) throws -> [String?] {
        // The folder is opened a second time, because `closedir` also closes the descriptor that was passed to `fdopendir`.
        guard let stream = fdopendir(openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) else {
            throw Failure(path: ".", code: errno)
        }
        defer { closedir(stream) }
        var names: [String?] = []
        errno = 0
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(validatingCString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw Failure(path: ".", code: errno) }
        return names
    }

    // MARK: Reading

    /// The stamp of a file; nil if there is none.
    func stamp(_ path: String) throws -> FileStamp? {
        do {
            return try withParent(of: path) { parent, name in
                var status = folder_file()
                try check(path) { folder_stat(parent, name, &status) }
                return stamp(status)
            }
        } catch let failure as Failure where failure.code == ENOENT || failure.code == ENOTDIR {
            return nil
        }
    }

    /// Reads a file.
    /// - Returns: the bytes of the file, and its stamp after reading.
    func read(_ path: String) throws -> (Data, FileStamp) {
        try withParent(of: path) { parent, name in try read(name, in: parent) }
    }

    func read(_ name: String, in parent: Int32) throws -> (Data, FileStamp) {
        let file = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw Failure(path: name, code: errno) }
        defer { close(file) }
        var status = folder_file()
        guard folder_stat(file, "", &status) == 0 else { throw Failure(path: name, code: errno) }
        guard status.kind == folder_kind_file else { throw Failure(path: name, code: EINVAL) }
        var bytes = Data(count: Int(status.size) + 1)
        var count = 0
        while true {
            if count == bytes.count { bytes.append(Data(count: max(bytes.count, 4_096))) }
            let got = bytes.withUnsafeMutableBytes {
                systemRead(file, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            guard got >= 0 else { throw Failure(path: name, code: errno) }
            if got == 0 { break }
            count += got
        }
        bytes.removeSubrange(count...)
        guard folder_stat(file, "", &status) == 0 else { throw Failure(path: name, code: errno) }
        return (bytes, stamp(status))
    }

    /// Opens a file in order to read it piece by piece.
    func reader(_ path: String) throws -> FileReader {
        try withParent(of: path) { parent, name in
            let file = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard file >= 0 else { throw Failure(path: path, code: errno) }
            return FileReader(file, path, in: self)
        }
    }

    // MARK: Writing

    /// The folder for temporary files. New contents are written here before they are moved to their paths. Replaced contents stay
    /// here until the caller has processed them.
    static let temporary = "\(Marker.folderName)/tmp"
    /// The suffix of the names of temporary files that contain bytes of attachments. Such a file may be deleted, because the bytes
    /// are also in the local copy.
    static let part = ".part"

    /// Creates a file with the given bytes.
    /// - Returns: the stamp of the file; nil if there is already something at the path.
    func create(_ path: String, _ bytes: Data) throws -> FileStamp? {
        try create(path, ending: "") { write in try bytes.withUnsafeBytes(write) }
    }

    /// Creates a file with bytes that `body` writes, piece by piece.
    /// - Parameter ending: the suffix of the name of the temporary file.
    /// - Returns: the stamp of the file; nil if there is already something at the path.
    func create(
        _ path: String, ending: String = Folder.part, _ body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> FileStamp? {
        let temporary = try open(Folder.temporary, creating: true)
        defer { close(temporary) }
        let (spare, file) = try write(for: path, ending: ending, in: temporary, body)
        defer { close(file) }
        return try withParent(of: path, creating: true) { parent, name in
            guard folder_move(temporary, spare, parent, name) == 0 else {
                let code = errno
                unlinkat(temporary, spare, 0)
                if code == EEXIST { return nil }
                throw Failure(path: path, code: code)
            }
            fsync(parent)
            return try stamp(ofOpen: file, path)
        }
    }

    /// The result of replacing the contents of a file.
    enum Replacement {
        /// The file has the new contents. The replaced file is in ``temporary`` under the name `former`.
        case done(FileStamp, former: String, formerBytes: Data)
        /// The stamp of the file is not the expected one. Nothing was changed.
        case unexpected
    }

    /// Replaces the contents of a file atomically. Its mode, owner and extended attributes are kept.
    /// - Parameter expected: the stamp that the file must have. The caller must also check `formerBytes`, because the file may
    ///   change after its stamp was compared.
    func replace(_ path: String, _ bytes: Data, expected: FileStamp) throws -> Replacement {
        let temporary = try open(Folder.temporary, creating: true)
        defer { close(temporary) }
        return try withParent(of: path) { parent, name in
            let target = try check(path) { openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
            defer { close(target) }
            guard try stamp(ofOpen: target, path) == expected else { return .unexpected }
            let (spare, file) = try write(for: path, in: temporary) { write in try bytes.withUnsafeBytes(write) }
            defer { close(file) }
            do {
                try copyProperties(from: target, to: file, path)
                fsync(file)
                try check(path) { folder_exchange(temporary, spare, parent, name) }
            } catch {
                unlinkat(temporary, spare, 0)
                throw error
            }
            fsync(parent)
            let (former, _) = try read(spare, in: temporary)
            return .done(try stamp(ofOpen: file, path), former: spare, formerBytes: former)
        }
    }

    /// Writes the new contents of a file to a temporary file.
    /// - Parameter path: the path of the file, for error messages.
    /// - Returns: the name of the temporary file, and the open file.
    private func write(
        for path: String, ending: String = "", in temporary: Int32,
        _ body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> (name: String, file: Int32) {
        let name = UniqueID.random().description + ending
        let file = try check(path) { openat(temporary, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) }
        do {
            try body { buffer in
                var written = 0
                while written < buffer.count {
                    let count = systemWrite(file, buffer.baseAddress?.advanced(by: written), buffer.count - written)
                    guard count >= 0 else { throw Failure(path: path, code: errno) }
                    written += count
                }
            }
            try check(path) { fsync(file) }
            return (name, file)
        } catch {
            close(file)
            unlinkat(temporary, name, 0)
            throw error
        }
    }

    private func copyProperties(from: Int32, to file: Int32, _ path: String) throws {
        var (one, other) = (stat(), stat())
        try check(path) { fstat(from, &one) }
        try check(path) { fstat(file, &other) }
        if one.st_uid != other.st_uid || one.st_gid != other.st_gid {
            // Only root may change the owner of a file. If the owner or the group cannot be kept, the replacement fails, so that no
            // user loses access to the file.
            try check(path) { fchown(file, one.st_uid, one.st_gid) }
        }
        try check(path) { fchmod(file, one.st_mode & 0o7777) }
        folder_copy_attributes(from, file)
    }

    private func stamp(ofOpen file: Int32, _ path: String) throws -> FileStamp {
        var status = folder_file()
        try check(path) { folder_stat(file, "", &status) }
        return stamp(status)
    }

    /// Moves a file, unless there is something at the new path.
    /// - Returns: whether the file was moved.
    func move(_ path: String, to other: String) throws -> Bool {
        try withParent(of: path) { parent, name in
            try withParent(of: other, creating: true) { otherParent, otherName in
                guard folder_move(parent, name, otherParent, otherName) == 0 else {
                    if errno == EEXIST { return false }
                    throw Failure(path: path, code: errno)
                }
                fsync(otherParent)
                fsync(parent)
                return true
            }
        }
    }

    /// Removes the temporary file that contains the replaced contents of a file.
    func removeTemporary(_ name: String) {
        guard let temporary = try? open(Folder.temporary) else { return }
        defer { close(temporary) }
        unlinkat(temporary, name, 0)
    }
}
