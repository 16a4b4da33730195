import Foundation
import HesperStore

/// A data folder into which a backup is being restored. The folder has a subfolder `restoring` until the restore has finished. A
/// server refuses to start with a folder whose restore is incomplete.
public struct RestoredFolder: Sendable {
    private let path: String
    private let name: String
    /// A lock that prevents concurrent restores into the folder.
    private let lock: FolderLock
    /// Whether this restore created the folder.
    private let isNew: Bool

    /// The name of the subfolder that exists until the restore is finished. If a restore was interrupted, the next restore
    /// removes the contents of this subfolder first.
    public static let restoring = "restoring"
    /// The name of the subfolder for attachments. It may already exist when a restore starts, because an interrupted restore or
    /// the operator has created it.
    private static let attachments = "attachments"

    private var unfinished: String { "\(path)/\(RestoredFolder.restoring)" }
    /// The path to which the caller must write the restored database. The file does not exist yet.
    public var database: String { "\(unfinished)/\(name)" }

    /// Creates the folder into which a backup is restored. An existing folder is used if it is empty or contains an unfinished
    /// restore.
    /// - Parameters:
    ///   - name: the file name of the database.
    ///   - settings: the file name of the settings. The folder may already contain this file.
    /// - Throws: ``RestoreRefusal`` if the folder contains other files or another process is restoring into it, or
    ///   ``StoreError``.
    public init(path: String, database name: String, settings: String) throws {
        self.path = path
        self.name = name
        isNew = try File.status(path) == nil
        try File.makeFolder(path)
        guard let lock = try FolderLock(path) else { throw RestoreRefusal.inUse }
        self.lock = lock
        let names = try File.list(path).sorted()
        let allowed: Set = [settings, RestoredFolder.restoring, RestoredFolder.attachments, "lost+found"]
        if let other = names.first(where: { !allowed.contains($0) }) { throw RestoreRefusal.notEmpty(other) }
        if !names.contains(RestoredFolder.restoring), names.contains(RestoredFolder.attachments),
            try !File.list("\(path)/\(RestoredFolder.attachments)").isEmpty
        {
            throw RestoreRefusal.notEmpty(RestoredFolder.attachments)
        }
        try File.makeFolder(unfinished)
        for name in try File.list(unfinished) { try File.remove("\(unfinished)/\(name)") }
    }

    /// Renames the database to its final name. The folder is then a complete installation, and this state is durable when the
    /// function returns.
    public func finish() throws {
        try File.rename(database, "\(path)/\(name)")
        for name in try File.list(unfinished) { try File.remove("\(unfinished)/\(name)") }
        _ = try File.call("remove", unfinished) { rmdir(unfinished) }
        try File.syncFolder(path)
    }

    /// Removes the files of this restore and of interrupted restores into the same folder. If this restore created the folder,
    /// the folder is removed too.
    public func discard() throws {
        let files = FileManager.default
        for folder in [unfinished, "\(path)/\(RestoredFolder.attachments)"] {
            for name in try File.list(folder) { try files.removeItem(atPath: "\(folder)/\(name)") }
            // If the folder is a symbolic link or a mount point, rmdir fails, and only the contents of the folder are removed.
            rmdir(folder)
        }
        if isNew { rmdir(path) }
    }

    /// Whether the folder contains a restore that was not completed.
    public static func isUnfinished(_ path: String, database name: String) -> Bool {
        let files = FileManager.default
        return files.fileExists(atPath: "\(path)/\(restoring)") && !files.fileExists(atPath: "\(path)/\(name)")
    }
}

/// A reason why a backup cannot be restored into a folder.
public enum RestoreRefusal: Error, Sendable, Equatable {
    /// Another process is restoring into the folder.
    case inUse
    /// The folder contains this file, which does not belong to a restore.
    case notEmpty(String)
}
