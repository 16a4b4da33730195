import Foundation
import HesperStore

/// A lock on a folder, for one process at a time; it goes with the process that has it, however that ends (flock(2)).
public final class FolderLock: Sendable {
    private let descriptor: Int32

    /// - Parameter isShared: whether others may have it at the same time, if they share it too.
    /// - Returns: nil while another has it.
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
