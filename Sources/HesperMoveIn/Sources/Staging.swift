import Foundation
import HesperModel

/// A temporary folder for the files of an import. It is removed when the last reference to this object is released.
public final class Staging: Sendable {
    let folder: String

    /// - Throws: ``MoveInError`` if the folder cannot be created.
    init(_ limits: SourceLimits) throws(MoveInError) {
        let parent = limits.temporaryFolder.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory
        folder = parent.appending(path: "hesper-import-\(UniqueID.random())").path
        guard mkdir(folder, 0o700) == 0 else {
            throw MoveInError("Cannot create \(folder): \(String(cString: strerror(errno))).")
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The path of a new file in the folder. The path is random, and does not contain names from the source.
    func path() -> String { "\(folder)/\(UniqueID.random())" }
}

/// Counts the bytes of temporary files, and checks the free space on their disk.
struct TemporarySpace {
    private let limits: SourceLimits
    private let folder: String
    private var byteCount: Int64 = 0
    /// The number of bytes after which the free space is checked again.
    private static let step: Int64 = 16 << 20

    init(_ limits: SourceLimits, in staging: Staging) { (self.limits, folder) = (limits, staging.folder) }

    /// - Throws: ``MoveInError`` if too many bytes were written, or the disk is almost full. `CancellationError` if the task was
    ///   cancelled.
    mutating func add(_ count: Int) throws {
        let before = byteCount
        byteCount += Int64(count)
        guard byteCount <= limits.temporaryBytes else {
            throw MoveInError(
                "The unpacked source has more than the maximum of \(limits.temporaryBytes) bytes. Split it.")
        }
        if before == 0 || before / TemporarySpace.step != byteCount / TemporarySpace.step { try check() }
    }

    func check() throws {
        try Task.checkCancellation()
        guard limits.freeBytes > 0 else { return }
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return }
        guard Int64(status.f_bavail) * Int64(status.f_frsize) >= limits.freeBytes else {
            throw MoveInError(
                "There is not enough free space on the disk for temporary files. \(limits.freeBytes) bytes must remain free."
            )
        }
    }
}

/// Writes a file in a ``Staging`` folder.
struct StagedFile: ~Copyable {
    let path: String
    private let descriptor: Int32
    private(set) var byteCount: Int64 = 0

    init(in folder: Staging) throws {
        path = folder.path()
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StagedFile.error }
    }

    deinit { close(descriptor) }

    mutating func append(_ bytes: UnsafeRawBufferPointer) throws {
        byteCount += Int64(bytes.count)
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw StagedFile.error }
            rest = rest.dropFirst(written)
        }
    }

    private static var error: MoveInError {
        MoveInError("Cannot write a temporary file: \(String(cString: strerror(errno))).")
    }
}
