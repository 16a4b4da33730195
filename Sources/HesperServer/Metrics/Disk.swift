import Foundation

/// The space on the disk of a folder, in bytes.
struct Disk: Equatable {
    let free: Int64
    let size: Int64

    /// Below this, `/readyz` reports the disk as almost full.
    static let lowSpace: Int64 = 64 << 20

    /// - Returns: nil if it cannot be determined.
    static func space(at path: String) -> Disk? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let block = Int64(status.f_frsize)
        return Disk(free: Int64(status.f_bavail) * block, size: Int64(status.f_blocks) * block)
    }
}

/// A folder whose disk space is monitored, with its name in metrics and health checks.
public struct DiskFolder: Sendable, Equatable {
    public let name: String
    public let path: String

    public init(name: String, path: String) {
        self.name = name
        self.path = path
    }
}
