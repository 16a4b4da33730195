import Foundation

/// A small file that reserves disk space, so that a database can be opened when the disk is full.
///
/// SQLite creates the write-ahead log and its index when the first connection opens, and removes both when the last connection
/// closes. Both files need space even if nothing is written to the database. If the disk is full, the reserve is deleted to make
/// space for these files. It is written again after SQLite has removed them.
struct DiskReserve {
    /// The name of the reserve, which is a file in the folder of the database.
    static let fileName = "hesper.reserve"
    /// The size of the reserve. It is several times the space that opening a database needs: 32 KiB for the index of the
    /// write-ahead log, and some pages for the log itself.
    private static let bytes = 128 << 10
    /// The minimum free space in bytes for the creation of a reserve while a database is open. If less space is free, no reserve is
    /// created, because the open database may soon need the space.
    private static let leastRoom = 8 << 20

    private let path: String
    private let folder: String

    init(folder: URL) {
        self.folder = folder.path
        path = folder.appending(path: DiskReserve.fileName).path
    }

    /// Deletes the reserve.
    /// - Returns: whether the reserve existed.
    func release() -> Bool { unlink(path) == 0 }

    /// Creates the reserve if it does not exist and at least ``leastRoom`` bytes are free.
    func makeIfRoomy() {
        var system = statvfs()
        guard access(path, F_OK) != 0, statvfs(folder, &system) == 0,
            UInt64(system.f_bavail) * UInt64(system.f_frsize) >= UInt64(DiskReserve.leastRoom)
        else { return }
        fill()
    }

    /// Writes the reserve. If the disk has too little space for all of it, a smaller reserve is written.
    func fill() {
        let file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        defer { try? FileHandle(fileDescriptor: file).close() }
        // Random bytes, because a file system with compression would not reserve space for zeros.
        var generator = SystemRandomNumberGenerator()
        for offset in stride(from: 0, to: DiskReserve.bytes, by: 4_096) {
            let block = (0..<512).map { _ in generator.next() }
            let written = block.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, off_t(offset)) }
            guard written == block.count * 8 else { return }
        }
    }
}
