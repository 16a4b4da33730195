import Foundation
import HesperModel
import HesperStore

/// The folder for the temporary files of one import. The process that uses the folder holds a lock on it. The folder is removed
/// when this object is deallocated.
final class ImportFolder: Sendable {
    let path: String
    private let descriptor: Int32
    private static let prefix = "hesper-import-"

    /// - Parameter parent: the folder in which the new folder is created; nil for the temporary folder of the system.
    /// - Throws: ``StoreError`` if the new folder cannot be created or locked.
    init(in parent: String?) throws {
        let parent = parent ?? FileManager.default.temporaryDirectory.path
        path = "\(parent)/\(ImportFolder.prefix)\(UniqueID.random())"
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StoreError.unavailable("cannot create \(path): \(error.localizedDescription)")
        }
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw StoreError.unavailable("cannot lock \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        close(descriptor)
    }

    /// Removes the folders of processes that were killed.
    static func removeAbandoned(in parent: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] where name.hasPrefix(prefix) {
            let path = "\(parent)/\(name)"
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { try? FileManager.default.removeItem(atPath: path) }
        }
    }
}
