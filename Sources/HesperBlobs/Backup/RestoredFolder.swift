import Foundation
import HesperStore

/// A data folder that is being restored. It contains a folder `restoring` until the restore is complete. A server does not start
/// on it before that.
public struct RestoredFolder: Sendable {
    private let path: String
    private let name: String
    /// Prevents concurrent restores into the folder.
    private let lock: FolderLock
    /// Whether this restore created the folder.
    private let isNew: Bool

    /// The subfolder that exists during a restore. A new restore removes its contents.
    public static let restoring = "restoring"
    /// Attachments restored by an interrupted restore, or a folder that the operator prepared.
    private static let attachments = "attachments"

    private var unfinished: String { "\(path)/\(RestoredFolder.restoring)" }
    /// The path for the restored database. The file does not exist yet.
    public var database: String { "\(unfinished)/\(name)" }

    /// Creates the folder, or reuses an empty folder or one with an unfinished restore.
    /// - Parameters:
    ///   - name: the file name of the database.
    ///   - settings: the name of a settings file, which may exist.
    /// - Throws: ``RestoreRefusal`` if the folder contains other files. ``StoreError``.
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

    /// Renames the database to its final name, durably. The folder is then a complete installation.
    public func finish() throws {
        try File.rename(database, "\(path)/\(name)")
        for name in try File.list(unfinished) { try File.remove("\(unfinished)/\(name)") }
        _ = try File.call("remove", unfinished) { rmdir(unfinished) }
        try File.syncFolder(path)
    }

    /// Removes the files of this restore, and of interrupted restores into the same folder. Also removes the folder if this
    /// restore created it.
    public func discard() throws {
        let files = FileManager.default
        for folder in [unfinished, "\(path)/\(RestoredFolder.attachments)"] {
            for name in try File.list(folder) { try files.removeItem(atPath: "\(folder)/\(name)") }
            // The folder may be a symbolic link or a mount point, so only its contents are sure to be removed.
            rmdir(folder)
        }
        if isNew { rmdir(path) }
    }

    /// Whether a restore into the folder was not completed.
    public static func isUnfinished(_ path: String, database name: String) -> Bool {
        let files = FileManager.default
        return files.fileExists(atPath: "\(path)/\(restoring)") && !files.fileExists(atPath: "\(path)/\(name)")
    }
}

/// The reason why a folder cannot be restored into.
public enum RestoreRefusal: Error, Sendable, Equatable {
    /// Another process is restoring into the folder.
    case inUse
    /// The folder contains this file.
    case notEmpty(String)
}
