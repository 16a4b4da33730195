import Foundation
import HesperClient
import HesperModel

/// The location of the state of a mirror: `$XDG_STATE_HOME/hesper/<folder ID>`, by default in `~/.local/state`. Only the owner can
/// read the state, because it contains the session of the account.
struct MirrorState {
    let url: URL

    init(folder id: String) {
        let environment = ProcessInfo.processInfo.environment
        let base = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? URL(filePath: $0) : nil }
        let home = base ?? FileManager.default.homeDirectoryForCurrentUser.appending(path: ".local/state")
        url = home.appending(path: "hesper").appending(path: id)
    }

    private var file: URL { url.appending(path: "store.sqlite") }

    var exists: Bool { FileManager.default.fileExists(atPath: file.path) }

    func openStore() async throws -> LocalStore {
        try makeFolder()
        let store = try await LocalStore(at: file)
        chmod(file.path, 0o600)
        return store
    }

    private func makeFolder() throws {
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Locks the state, so that only one process at a time syncs the folder. The operating system releases the lock when the
    /// process ends.
    /// - Throws: ``MirrorError`` if another process holds the lock.
    func lock() throws {
        try makeFolder()
        let descriptor = systemOpenToWrite(url.appending(path: "lock").path)
        guard descriptor >= 0 else { throw Folder.Failure(path: url.path, code: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw MirrorError("Another process syncs this folder.")
        }
    }

    func remove() { try? FileManager.default.removeItem(at: url) }
}
