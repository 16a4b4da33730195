import HesperModel

/// The contents of the file `backup.json`, which describes a backup. This file is written last, so that it never describes an
/// incomplete backup.
///
///     {"format": "hesper-backup", "formatVersion": 1, "date": "2026-11-21T02:00:00.000Z",
///      "database": {"file": "hesper-9f86d081884c7d65.sqlite", "byteCount": 73728, "sha256": "…"},
///      "attachments": 12, "missing": [], "installation": "9f86d081884c7d65"}
public struct BackupManifest: Sendable, Equatable {
    /// The time at which the backup was started. Changes that were made after this time may be missing in the backup.
    public let date: Timestamp
    /// The name of the file that contains the database.
    public let file: String
    public let database: AttachmentData
    /// The number of blobs in the database, including the blobs in ``missing``.
    public let attachments: Int
    /// The names of the blobs whose bytes were missing or damaged when the backup was made.
    public let missing: [String]

    /// The installation to which the backup belongs; nil if an earlier version of Hesper made the backup.
    public let installation: NodeID?

    private static let format = "hesper-backup"
    private static let version: Int64 = 1

    public init(
        date: Timestamp, file: String, database: AttachmentData, attachments: Int, missing: [String],
        installation: NodeID? = nil
    ) {
        self.date = date
        self.file = file
        self.database = database
        self.attachments = attachments
        self.missing = missing
        self.installation = installation
    }

    var bytes: [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.object { writer in
            writer.member("format", BackupManifest.format)
            writer.member("formatVersion", BackupManifest.version)
            writer.member("date", date)
            writer.name("database")
            writer.object { writer in
                writer.member("file", file)
                writer.member("byteCount", database.byteCount)
                writer.member("sha256", database.sha256)
            }
            writer.member("attachments", Int64(attachments))
            writer.name("missing")
            writer.array { writer in
                for name in missing { writer.string(name) }
            }
            if let installation { writer.member("installation", installation.description) }
        }
        return writer.bytes + Array("\n".utf8)
    }

    /// - Throws: ``BackupDamaged`` if the text is not a valid manifest.
    init(_ bytes: [UInt8], of path: String) throws {
        guard case .object(let object)? = try? JSONReader.read(bytes),
            object["format"] == .string(BackupManifest.format), case .integer(let version)? = object["formatVersion"]
        else { throw BackupDamaged("\(path) is not a backup manifest.") }
        guard version == BackupManifest.version else {
            throw BackupDamaged("\(path) has format version \(version). Use a later version of Hesper to read it.")
        }
        guard case .string(let text)? = object["date"], let date = Timestamp(text),
            case .object(let database)? = object["database"],
            case .string(let file)? = database["file"], BackupFolder.isDatabase(file),
            case .integer(let byteCount)? = database["byteCount"], case .string(let sha256)? = database["sha256"],
            case .integer(let attachments)? = object["attachments"], case .array(let items)? = object["missing"]
        else { throw BackupDamaged("\(path) is incomplete.") }
        let missing = try items.map { item in
            guard case .string(let name) = item else { throw BackupDamaged("\(path) is incomplete.") }
            return name
        }
        self.init(
            date: date, file: file, database: AttachmentData(byteCount: byteCount, sha256: sha256),
            attachments: Int(attachments), missing: missing, installation: try BackupManifest.installation(object, path)
        )
    }

    private static func installation(_ object: JSONObject, _ path: String) throws -> NodeID? {
        guard let member = object["installation"] else { return nil }
        guard case .string(let text) = member, let node = NodeID(text) else {
            throw BackupDamaged("\(path) is incomplete.")
        }
        return node
    }
}

/// The error for a damaged backup. The message contains the name of the damaged file.
public struct BackupDamaged: Error, Sendable, Equatable {
    public let message: String

    init(_ message: String) { self.message = message }
}
