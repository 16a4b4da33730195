import Foundation
import HesperStore

/// A data folder on its way to be one. Until it is, it has a folder `restoring`, and nothing serves it.
public struct RestoredFolder: Sendable {
    private let path: String
    private let name: String
    /// Nobody else restores into it meanwhile.
    private let lock: FolderLock
    /// Whether there was no such folder before.
    private let isNew: Bool

    /// What is there, in the data folder, until a restore has come to its end. Whatever is in it a restore removes.
    public static let restoring = "restoring"
    /// What a restore that broke off has brought, or what somebody made for it.
    private static let attachments = "attachments"

    private var unfinished: String { "\(path)/\(RestoredFolder.restoring)" }
    /// Where the database is to be written to; not there yet.
    public var database: String { "\(unfinished)/\(name)" }

    /// Makes the folder, or takes one that is empty or that a restore has begun to fill.
    /// - Parameters:
    ///   - name: the name that the database's file will have.
    ///   - settings: the name of a file that may be there before.
    /// - Throws: ``RestoreRefusal`` if there is anything else in it; ``StoreError``.
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

    /// Gives the database its name, durably: from now on the folder is an installation.
    public func finish() throws {
        try File.rename(database, "\(path)/\(name)")
        for name in try File.list(unfinished) { try File.remove("\(unfinished)/\(name)") }
        _ = try File.call("remove", unfinished) { rmdir(unfinished) }
        try File.syncFolder(path)
    }

    /// Removes what this restore, and those into the same folder that were interrupted before, have brought; the folder too,
    /// if this restore made it.
    public func discard() throws {
        let files = FileManager.default
        for folder in [unfinished, "\(path)/\(RestoredFolder.attachments)"] {
            for name in try File.list(folder) { try files.removeItem(atPath: "\(folder)/\(name)") }
            // It may be a link, or where another disk is mounted.
            rmdir(folder)
        }
        if isNew { rmdir(path) }
    }

    /// Whether a restore into the folder has not come to its end.
    public static func isUnfinished(_ path: String, database name: String) -> Bool {
        let files = FileManager.default
        return files.fileExists(atPath: "\(path)/\(restoring)") && !files.fileExists(atPath: "\(path)/\(name)")
    }
}

/// Why nothing can be restored into a folder.
public enum RestoreRefusal: Error, Sendable, Equatable {
    /// Another process restores into it.
    case inUse
    /// It has this in it.
    case notEmpty(String)
}
