import Foundation

/// A small file that takes up room on the disk, so that a database can be opened when the disk is full.
///
/// SQLite makes the write-ahead log and its index when the first connection opens, and removes them when the last one closes.
/// Both need room even where nobody writes. The reserve is given up for them, and filled again once they are gone.
struct Reserve {
    /// The name of the file, in the folder of the database.
    static let fileName = "hesper.reserve"
    /// Several times what an opening needs: 32 KiB for the index, some pages for the log.
    private static let bytes = 128 << 10
    /// So much must be free for a reserve to be made beside a database that is open, which may need the last of the room.
    private static let leastRoom = 8 << 20

    private let path: String
    private let folder: String

    init(folder: URL) {
        self.folder = folder.path
        path = folder.appending(path: Reserve.fileName).path
    }

    /// Gives the room back.
    /// - Returns: whether there was any.
    func release() -> Bool { unlink(path) == 0 }

    /// Makes the reserve if there is ample room.
    func makeIfRoomy() {
        var system = statvfs()
        guard access(path, F_OK) != 0, statvfs(folder, &system) == 0,
            UInt64(system.f_bavail) * UInt64(system.f_frsize) >= UInt64(Reserve.leastRoom)
        else { return }
        fill()
    }

    /// Takes as much of the reserve's size as there is.
    func fill() {
        let file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        defer { try? FileHandle(fileDescriptor: file).close() }
        // File systems that compress would give no room to zeros.
        var generator = SystemRandomNumberGenerator()
        for offset in stride(from: 0, to: Reserve.bytes, by: 4_096) {
            let block = (0..<512).map { _ in generator.next() }
            let written = block.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, off_t(offset)) }
            guard written == block.count * 8 else { return }
        }
    }
}
