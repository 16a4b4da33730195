import Foundation
import HesperModel
import HesperStore
import NIOPosix

/// A folder with dated backups of one installation. Each backup is a separate ``BackupFolder``. Equal bytes in several backups are
/// stored once, by means of hard links.
///
///     2026-11-23T0300Z   a backup
///     unfinished         the backup that is being created
///     removed            a backup that is being removed
///
/// All other entries of the folder are ignored, including backups of other installations.
public struct BackupSeries: Sendable {
    public let path: String
    /// The installation whose backups form the series. Backups of other installations are ignored.
    private let installation: NodeID
    private let pool: NIOThreadPool

    private static let unfinished = "unfinished"
    private static let removed = "removed"

    /// A complete backup of the series.
    public struct Entry: Sendable, Equatable {
        public let path: String
        public let date: Timestamp
    }

    public init(path: String, installation: NodeID, pool: NIOThreadPool = .singleton) {
        (self.path, self.installation, self.pool) = (path, installation, pool)
    }

    /// The complete backups of the series, the oldest first.
    public func entries() async throws -> [Entry] {
        try await pool.run {
            // If the path is a symbolic link, the suffix `/.` selects the folder instead of the link.
            guard try File.status("\(path)/.") != nil else { throw File.error("open", path, ENOENT) }
            return try File.list(path).filter(BackupSeries.isName).compactMap { name in
                let entry = "\(path)/\(name)"
                // Damaged backups are not listed, so they are never removed.
                guard let manifest = try? BackupFolder(path: entry).manifest(), manifest.installation == installation
                else { return nil }
                return Entry(path: entry, date: manifest.date)
            }.sorted { $0.date < $1.date }
        }
    }

    /// Creates a backup. When the backup is complete and durable, it gets its dated name. The folder of the series must exist. It
    /// is not created here, because its disk may not be mounted. A new folder would then be on another disk.
    /// - Parameter make: writes the backup to `folder`. It may create hard links to the bytes in `earlier`, the latest complete
    ///   backup, which is nil if there is none.
    /// - Throws: ``BackupInUse`` if another process creates or removes a backup, or an error of `make`.
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

    /// Keeps `count` complete backups, and removes the others. Backups with a later date than `newest` are removed first, because
    /// they were made while the clock was wrong. Then the oldest backups are removed. A backup that is being read is not removed;
    /// the next call may remove it.
    /// - Parameters:
    ///   - count: the number of backups to keep, including `newest`.
    ///   - newest: the backup that was just created. It is always kept.
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

    /// Removes a backup, unless it is being read.
    /// - Returns: false if the backup is being read.
    private func remove(_ entry: Entry) async throws -> Bool {
        let reading = try await pool.run { try FolderLock(entry.path) }
        guard let reading else { return false }
        // The backup is renamed first, so that a partly removed backup is never listed.
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

    /// The path of the backup with the latest dated name, even if the backup is incomplete; nil if there is no backup. Commands
    /// suggest this path if the user has given them the folder of the series instead of a single backup.
    public static func latest(in path: String) throws -> String? {
        try File.list(path).filter(isName).max().map { "\(path)/\($0)" }
    }

    /// The name of a backup made at a date, such as `2026-11-23T0300Z`.
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
