import Foundation

/// The room on the disk of a folder.
struct Disk: Equatable {
    let free: Int64
    let size: Int64

    /// Below this a server says that it is not well: a commit and its log need room beside what they write.
    static let low: Int64 = 64 << 20

    /// - Returns: nil if nobody can tell.
    static func room(at path: String) -> Disk? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let block = Int64(status.f_frsize)
        return Disk(free: Int64(status.f_bavail) * block, size: Int64(status.f_blocks) * block)
    }
}

/// A folder that needs room, and what it is called where others read of it.
public struct DiskFolder: Sendable, Equatable {
    public let name: String
    public let path: String

    public init(name: String, path: String) {
        self.name = name
        self.path = path
    }
}
