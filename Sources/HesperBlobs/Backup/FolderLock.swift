import Foundation
import HesperStore

/// A lock on a folder between processes (flock(2)). The operating system releases the lock when the process ends.
public final class FolderLock: Sendable {
    private let descriptor: Int32

    /// Locks the folder, without waiting for other processes.
    /// - Parameter isShared: true for a shared lock, which several processes may hold at the same time; false for an exclusive
    ///   lock.
    /// - Returns: nil if another process holds a conflicting lock.
    public init?(_ path: String, isShared: Bool = false) throws {
        descriptor = try File.open(path, O_RDONLY | O_DIRECTORY)
        guard flock(descriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 else { return }
        let code = errno
        close(descriptor)
        guard code == EWOULDBLOCK else { throw File.error("lock", path, code) }
        return nil
    }

    deinit {
        // Closing the descriptor may not release the lock at once. If another thread is starting a process, the new process has a
        // copy of the descriptor until it executes its program. Therefore the lock is released explicitly.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
