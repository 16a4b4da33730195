import Foundation

/// The free space and the size of the disk that contains a folder, in bytes.
struct Disk: Equatable {
    let free: Int64
    let size: Int64

    /// The free space below which `/readyz` reports the disk as almost full, in bytes.
    static let lowSpace: Int64 = 64 << 20

    /// Determines the free space and the size of the disk that contains a folder.
    /// - Returns: nil if the space cannot be determined, for example because the folder does not exist.
    static func space(at path: String) -> Disk? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let block = Int64(status.f_frsize)
        return Disk(free: Int64(status.f_bavail) * block, size: Int64(status.f_blocks) * block)
    }
}

/// A folder whose disk space is monitored. Metrics and health checks identify it by `name`.
public struct DiskFolder: Sendable, Equatable {
    public let name: String
    public let path: String

    public init(name: String, path: String) {
        self.name = name
        self.path = path
    }
}
