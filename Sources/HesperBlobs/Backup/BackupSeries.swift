import Foundation
import HesperModel
import HesperStore
import NIOPosix

/// A folder with dated backups of one installation. Each is a separate ``BackupFolder``. Equal bytes are shared through hard
/// links.
///
///     2026-11-23T0300Z   a backup
///     unfinished         the backup that is being created
///     removed            a backup that is being removed
///
/// Everything else in the folder, including backups of other installations, is ignored.
public struct BackupSeries: Sendable {
    public let path: String
    /// The installation whose backups belong to the series.
    private let installation: NodeID
    private let pool: NIOThreadPool

    private static let unfinished = "unfinished"
    private static let removed = "removed"

    /// A complete backup.
    public struct Entry: Sendable, Equatable {
        public let path: String
        public let date: Timestamp
    }

    public init(path: String, installation: NodeID, pool: NIOThreadPool = .singleton) {
        (self.path, self.installation, self.pool) = (path, installation, pool)
    }

    /// The complete backups, oldest first.
    public func entries() async throws -> [Entry] {
        try await pool.run {
            // The path may be a symbolic link.
            guard try File.status("\(path)/.") != nil else { throw File.error("open", path, ENOENT) }
            return try File.list(path).filter(BackupSeries.isName).compactMap { name in
                let entry = "\(path)/\(name)"
                // Damaged backups are skipped, so they are never removed.
                guard let manifest = try? BackupFolder(path: entry).manifest(), manifest.installation == installation
                else { return nil }
                return Entry(path: entry, date: manifest.date)
            }.sorted { $0.date < $1.date }
        }
    }

    /// Creates a backup. It gets its dated name when it is complete and durable. The folder must exist: if it were created here,
    /// the backup could end up on the wrong disk while the right one is not mounted.
    /// - Parameter make: writes the backup to `folder`. It may link bytes from `earlier`.
    /// - Throws: ``BackupInUse`` if another process creates or removes a backup, and errors of `make`.
    public func add(
        _ make: (_ folder: BackupFolder, _ earlier: BackupFolder?) async throws -> BackupManifest
    ) async throws -> Entry {
        let lock = try await pool.run { try FolderLock(path) }
        guard let lock else { throw BackupInUse() }
        let earlier = try await entries().last.map { BackupFolder(path: $0.path, pool: pool) }
        let folder = BackupFolder(path: "\(path)/\(BackupSeries.unfinished)", pool: pool)
        let manifest = try await folder.whileLocked { try await make(folder, earlier) }
        let entry = Entry(path: "\(path)/\(BackupSeries.name(of: manifest.date))", date: manifest.date)
        try await pool.run {
            try File.rename(folder.path, entry.path)
            try File.syncFolder(path)
        }
        return withExtendedLifetime(lock) { entry }
    }

    /// Removes the oldest complete backups, but never the newest. A backup that is being read is kept until the next call.
    /// - Parameters:
    ///   - count: the number of backups to keep.
    ///   - newest: the backup that was just created. Backups with a later date were made with a wrong clock and are removed
    ///     first.
    /// - Returns: the removed backups.
    public func removeAll(but count: Int, newest: Entry) async throws -> [Entry] {
        let lock = try await pool.run { try FolderLock(path) }
        guard let lock else { throw BackupInUse() }
        try await finishRemoval()
        let others = try await entries().filter { $0 != newest }
        let inOrder = others.filter { $0.date > newest.date } + others.filter { $0.date <= newest.date }
        var removed: [Entry] = []
        for entry in inOrder.prefix(max(inOrder.count + 1 - max(count, 1), 0)) where try await remove(entry) {
            removed.append(entry)
        }
        return withExtendedLifetime(lock) { removed }
    }

    /// - Returns: false if the backup is being read.
    private func remove(_ entry: Entry) async throws -> Bool {
        let reading = try await pool.run { try FolderLock(entry.path) }
        guard let reading else { return false }
        // Renamed first, so that a partly removed backup is never listed.
        try await pool.run {
            try File.rename(entry.path, "\(path)/\(BackupSeries.removed)")
            try File.syncFolder(path)
        }
        try await finishRemoval()
        return withExtendedLifetime(reading) { true }
    }

    private func finishRemoval() async throws {
        let removed = "\(path)/\(BackupSeries.removed)"
        try await pool.run {
            guard try File.isFolder(removed) else { return }
            do {
                try FileManager.default.removeItem(atPath: removed)
            } catch {
                throw StoreError.unavailable("cannot remove \(removed): \(error.localizedDescription)")
            }
        }
    }

    // MARK: Names

    /// The path of the backup with the latest name, complete or not. Nil if there is none. Commands suggest it when they are
    /// given the folder of the series instead of one backup.
    public static func latest(in path: String) throws -> String? {
        try File.list(path).filter(isName).max().map { "\(path)/\($0)" }
    }

    /// `2026-11-23T0300Z`
    static func name(of date: Timestamp) -> String {
        date.description.prefix(16).replacing(":", with: "") + "Z"
    }

    private static func isName(_ name: String) -> Bool {
        let time = name.dropFirst(11)
        guard name.utf8.count == 16, time.count == 5 else { return false }
        return Timestamp("\(name.prefix(11))\(time.prefix(2)):\(time.dropFirst(2).prefix(2)):00\(time.suffix(1))")
            .map(BackupSeries.name) == name
    }
}
