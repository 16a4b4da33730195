package import Foundation

/// The lock that a process must hold to connect to the server. Only one of the processes that have the same database file open can
/// hold it.
///
/// The lock is a file beside the database file. The system releases the lock when the process ends. On iOS, an app must release
/// the lock before iOS suspends the app: iOS terminates a suspended process that has a lock in a shared folder (0xdead10cc).
package final class ConnectionLock: Sendable {
    private let path: String
    private let descriptor = Locked<Int32?>(nil)

    package init(_ store: URL) { path = store.path + "-lock" }

    /// Takes the lock, unless another process has it.
    /// - Returns: whether this process has it now.
    package func take() -> Bool {
        descriptor.withLock { descriptor in
            if descriptor != nil { return true }
            let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard opened >= 0 else { return false }
            guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
                close(opened)
                return false
            }
            descriptor = opened
            return true
        }
    }

    /// Releases the lock, so that another process may connect.
    package func release() {
        descriptor.withLock { descriptor in
            if let opened = descriptor { close(opened) }
            descriptor = nil
        }
    }

    deinit { release() }
}
