import Foundation
import HesperModel

/// A temporary folder for the files of an import. It is removed when the last reference to this object is released.
public final class Staging: Sendable {
    let folder: String

    /// - Throws: ``MoveInError`` if the folder cannot be created.
    init() throws(MoveInError) {
        folder = FileManager.default.temporaryDirectory.appending(path: "hesper-import-\(UniqueID.random())").path
        guard mkdir(folder, 0o700) == 0 else {
            throw MoveInError("Cannot create \(folder): \(String(cString: strerror(errno))).")
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The path of a new file in the folder. The path is random, and does not contain names from the source.
    func path() -> String { "\(folder)/\(UniqueID.random())" }
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
