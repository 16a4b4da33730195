import Foundation
import HesperModel
import HesperStore
import NIOPosix

/// A folder with a backup: the database at one moment, and the bytes of attachments named by their SHA-256, so that none is
/// copied twice.
///
///     backup.json                      what belongs to it
///     hesper-9f86d081884c7d65.sqlite   the database
///     attachments/9f/9f86d0818…        bytes
///     unfinished                       what is being written
///
/// `backup.json` is put in place last and names everything else: whatever breaks off leaves the backup of before.
public struct BackupFolder: Sendable {
    public let path: String
    let pool: NIOThreadPool

    public static let manifestName = "backup.json"
    private static let unfinished = "unfinished"
    static let attachments = "attachments"
    private static let prefix = "hesper-"
    private static let suffix = ".sqlite"

    public init(path: String, pool: NIOThreadPool = .singleton) {
        self.path = path
        self.pool = pool
    }

    func inside(_ name: String) -> String { "\(path)/\(name)" }
    var unfinished: String { inside(BackupFolder.unfinished) }

    /// Does something while no other process writes to the folder.
    /// - Parameter shared: whether others may read it at the same time; else it is made, if it is missing, to be written to.
    /// - Throws: ``BackupInUse``, and what `body` throws.
    public func whileLocked<T>(shared: Bool = false, _ body: () async throws -> T) async throws -> T {
        if !shared { try File.makeFolder(path) }
        guard let lock = try FolderLock(path, isShared: shared) else { throw BackupInUse() }
        let result = try await body()
        return withExtendedLifetime(lock) { result }
    }

    // MARK: Writing

    /// Looks at what is in the folder, and removes what a backup that broke off has left.
    /// - Returns: the path of an empty file for the database.
    /// - Throws: ``BackupForeign`` if the folder has something that no backup has written.
    public func begin() throws -> String {
        let known: Set = [BackupFolder.manifestName, BackupFolder.unfinished, BackupFolder.attachments, "lost+found"]
        let foreign = try File.list(path).sorted().first { !known.contains($0) && !BackupFolder.isDatabase($0) }
        if let foreign { throw BackupForeign(name: foreign) }
        try File.makeFolder(unfinished)
        for name in try File.list(unfinished) { try File.remove("\(unfinished)/\(name)") }
        let database = "\(unfinished)/database"
        // Made here, so that it is for its owner's eyes whatever the mask of the process.
        try File.write([], toNew: database)
        return database
    }

    /// Makes what was written the backup, and removes what only the one before had.
    /// - Parameters:
    ///   - database: the file that ``begin()`` named.
    ///   - blobs: those that the database has. All but the missing are in the folder.
    public func finish(
        database: String, blobs: [Blob], missing: [String], date: Timestamp, installation: NodeID? = nil
    ) async throws -> BackupManifest {
        try await pool.run {
            let digits = String(UInt64.random(in: 1 << 60 ... .max), radix: 16)
            let file = "\(BackupFolder.prefix)\(digits)\(BackupFolder.suffix)"
            let manifest = BackupManifest(
                date: date, file: file, database: try BackupFolder.syncing(database), attachments: blobs.count,
                missing: missing, installation: installation)
            try syncLinks()
            try File.rename(database, inside(file))
            try File.syncFolder(path)
            let text = "\(unfinished)/\(BackupFolder.manifestName)"
            try File.write(manifest.bytes, toNew: text)
            try File.rename(text, inside(BackupFolder.manifestName))
            try File.syncFolder(path)
            for name in try File.list(path) where BackupFolder.isDatabase(name) && name != file {
                try File.remove(inside(name))
            }
            try removeBytes(except: Set(blobs.map(\.data.sha256)))
            return manifest
        }
    }

    private static func syncing(_ path: String) throws -> AttachmentData {
        let descriptor = try File.open(path, O_RDONLY)
        defer { close(descriptor) }
        try File.sync(descriptor, path)
        return try hash(path)
    }

    // MARK: Reading

    /// What the backup consists of; nil if none was ever finished here.
    /// - Throws: ``BackupDamaged``.
    public func manifest() throws -> BackupManifest? {
        let path = inside(BackupFolder.manifestName)
        guard try File.status(path) != nil else { return nil }
        var bytes: [UInt8] = []
        try FileReader(path).read { bytes += Array($0.readableBytesView) }
        return try BackupManifest(bytes, of: path)
    }

    /// The path of the database.
    public func database(of manifest: BackupManifest) -> String { inside(manifest.file) }

    /// The path of the database that was written last, for a backup whose manifest cannot be read, or names another.
    /// - Throws: ``BackupDamaged`` if there is none.
    public func newestDatabase() throws -> String {
        let paths = try File.list(path).filter(BackupFolder.isDatabase).map(inside)
        let dated = try paths.compactMap { path in try File.status(path).map { (path, Timestamp($0)) } }
        guard let newest = dated.max(by: { $0.1 < $1.1 }) else { throw BackupDamaged("\(path) has no database.") }
        return newest.0
    }

    /// What is wrong with the bytes of the database; nil if they are those that were written.
    public func damage(toDatabaseOf manifest: BackupManifest) async throws -> BackupDamaged? {
        let path = database(of: manifest)
        return try await pool.run {
            guard try File.status(path) != nil else { return BackupDamaged("\(path) is missing.") }
            return try BackupFolder.hash(path) == manifest.database ? nil : BackupFolder.damage(toDatabase: path)
        }
    }

    private static func damage(toDatabase path: String) -> BackupDamaged {
        BackupDamaged("\(path) has other bytes than those that were written.")
    }

    /// Copies the database to a new file, durably.
    /// - Throws: ``BackupDamaged`` if it is not what the manifest says; there is no copy then.
    public func copyDatabase(_ manifest: BackupManifest, to copy: String) async throws {
        let source = database(of: manifest)
        try await pool.run {
            guard try File.status(source) != nil else { throw BackupDamaged("\(source) is missing.") }
            let reader = try FileReader(source)
            var writer = try FileWriter(copy)
            defer { writer.end() }
            try reader.read { writer = try writer.appending($0) }
            guard try writer.finished() == manifest.database else {
                try File.remove(copy)
                throw BackupFolder.damage(toDatabase: source)
            }
        }
    }

    static func hash(_ path: String) throws -> AttachmentData {
        var hasher = AttachmentHasher()
        try FileReader(path).read { hasher.update($0) }
        return hasher.data
    }

    /// Whether a file's name is one that ``finish(database:blobs:missing:date:installation:)`` gives.
    static func isDatabase(_ name: String) -> Bool {
        let digits = name.dropFirst(prefix.count).dropLast(suffix.count)
        return name == "\(prefix)\(digits)\(suffix)" && digits.count == 16
            && digits.allSatisfy { $0.isHexDigit && !$0.isUppercase }
    }
}

/// A folder is to become a backup, but has something that is none.
public struct BackupForeign: Error, Sendable, Equatable {
    public let name: String
}

/// Another process writes to the folder of a backup, or reads it while this one wants to write.
public struct BackupInUse: Error, Sendable, Equatable {}
