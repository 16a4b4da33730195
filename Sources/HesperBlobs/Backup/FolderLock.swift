import Foundation
import HesperStore

/// A lock on a folder between processes (flock(2)). The system releases it when the process ends.
public final class FolderLock: Sendable {
    private let descriptor: Int32

    /// - Parameter isShared: whether several processes may hold the lock if all of them request it shared.
    /// - Returns: nil if another process holds the lock.
    public init?(_ path: String, isShared: Bool = false) throws {
        descriptor = try File.open(path, O_RDONLY | O_DIRECTORY)
        guard flock(descriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 else { return }
        let code = errno
        close(descriptor)
        guard code == EWOULDBLOCK else { throw File.error("lock", path, code) }
        return nil
    }

    deinit { close(descriptor) }
}
