import Foundation
import HesperModel
import HesperStore
import NIOPosix

/// A folder with a backup: a copy of the database, and the bytes of attachments. The file name of an attachment is the SHA-256 hash
/// of its bytes, so that equal bytes are stored only once.
///
///     backup.json                      the manifest
///     hesper-9f86d081884c7d65.sqlite   the database
///     attachments/9f/9f86d0818…        bytes of an attachment
///     unfinished                       a folder for files that are being written
///
/// The manifest `backup.json` contains the name of the database. It is replaced when all other files are complete, so the previous
/// backup in the folder remains valid if a new backup is interrupted.
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

    /// Runs `body` while this process holds a lock on the folder.
    /// - Parameter shared: true for a shared lock, which several processes may hold at the same time; false for an exclusive
    ///   lock. For an exclusive lock, the folder is created if it does not exist.
    /// - Throws: ``BackupInUse`` if another process holds a conflicting lock, or an error of `body`.
    public func whileLocked<T>(shared: Bool = false, _ body: () async throws -> T) async throws -> T {
        if !shared { try File.makeFolder(path) }
        guard let lock = try FolderLock(path, isShared: shared) else { throw BackupInUse() }
        let result = try await body()
        return withExtendedLifetime(lock) { result }
    }

    // MARK: Writing

    /// Prepares the folder for a new backup, and removes the files of an interrupted backup.
    /// - Returns: the path of an empty file, to which the caller must write the database.
    /// - Throws: ``BackupUnknownFile`` if the folder contains files that do not belong to a backup.
    public func begin() throws -> String {
        let known: Set = [BackupFolder.manifestName, BackupFolder.unfinished, BackupFolder.attachments, "lost+found"]
        let foreign = try File.list(path).sorted().first { !known.contains($0) && !BackupFolder.isDatabase($0) }
        if let foreign { throw BackupUnknownFile(name: foreign) }
        try File.makeFolder(unfinished)
        for name in try File.list(unfinished) { try File.remove("\(unfinished)/\(name)") }
        let database = "\(unfinished)/database"
        // The file is created here, so that only its owner can access it, regardless of the umask.
        try File.write([], toNew: database)
        return database
    }

    /// Makes the written files the current backup, and removes the files that only the previous backup used.
    /// - Parameters:
    ///   - database: the path that ``begin()`` returned.
    ///   - blobs: the blobs in the database. The folder must contain the bytes of all of them except those in `missing`.
    ///   - missing: the names of the blobs whose bytes are missing or damaged.
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

    /// The manifest of the backup; nil if no backup was ever finished in this folder.
    /// - Throws: ``BackupDamaged`` if the manifest is invalid.
    public func manifest() throws -> BackupManifest? {
        let path = inside(BackupFolder.manifestName)
        guard try File.status(path) != nil else { return nil }
        var bytes: [UInt8] = []
        try FileReader(path).read { bytes += Array($0.readableBytesView) }
        return try BackupManifest(bytes, of: path)
    }

    /// The path of the database that the manifest names.
    public func database(of manifest: BackupManifest) -> String { inside(manifest.file) }

    /// The path of the most recently modified database. It is used if the manifest cannot be read or names a database that does
    /// not exist.
    /// - Throws: ``BackupDamaged`` if the folder contains no database.
    public func newestDatabase() throws -> String {
        let paths = try File.list(path).filter(BackupFolder.isDatabase).map(inside)
        let dated = try paths.compactMap { path in try File.status(path).map { (path, Timestamp($0)) } }
        guard let newest = dated.max(by: { $0.1 < $1.1 }) else { throw BackupDamaged("\(path) contains no database.") }
        return newest.0
    }

    /// Reads the database and compares it with its digest in the manifest. Returns the damage; nil if the database is intact.
    public func damage(toDatabaseOf manifest: BackupManifest) async throws -> BackupDamaged? {
        let path = database(of: manifest)
        return try await pool.run {
            guard try File.status(path) != nil else { return BackupDamaged("\(path) is missing.") }
            return try BackupFolder.hash(path) == manifest.database ? nil : BackupFolder.damage(toDatabase: path)
        }
    }

    private static func damage(toDatabase path: String) -> BackupDamaged {
        BackupDamaged("\(path) does not match its SHA-256 in \(manifestName).")
    }

    /// Copies the database to a new file. The copy is durable when this returns.
    /// - Throws: ``BackupDamaged`` if the database does not match the manifest. In that case, the copy is removed.
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

    /// Whether a file has a name as generated by ``finish(database:blobs:missing:date:installation:)`` for a database.
    static func isDatabase(_ name: String) -> Bool {
        let digits = name.dropFirst(prefix.count).dropLast(suffix.count)
        return name == "\(prefix)\(digits)\(suffix)" && digits.count == 16
            && digits.allSatisfy { $0.isHexDigit && !$0.isUppercase }
    }
}

/// The error for a backup folder that contains a file that does not belong to a backup.
public struct BackupUnknownFile: Error, Sendable, Equatable {
    public let name: String
}

/// The error for a backup folder on which another process holds a conflicting lock. The other process writes to the folder, or it
/// reads the folder and this process needs exclusive access.
public struct BackupInUse: Error, Sendable, Equatable {}
