import Foundation
import HesperMoveIn
import HesperStore

/// Limits of imports on the server (operating.md, Limits). `hesper import` has no such limits.
public struct ImportLimits: Sendable {
    /// The maximum size of a file in bytes.
    public var bytes: Int64 = 4 << 30
    /// The maximum number of files in an archive, and of notes in a file.
    public var entries = 100_000
    /// The maximum number of bytes of an unpacked archive.
    public var unpackedBytes: Int64 = 20 << 30
    /// The age at which an unfinished import is removed, in milliseconds.
    public var age = Sweep.abandonedAge
    /// The free space that an import must leave on the disk, in bytes.
    public var freeBytes: Int64 = 1 << 30
    /// The maximum length of the name of a file, in bytes of UTF-8.
    public var nameBytes = 255
    /// The folder for temporary files; nil for that of the system.
    public var folder: String?

    public init() {}

    /// The maximum number of skipped files and notes that a preview or a report lists.
    static let skippedEntries = 1_000

    /// The free space on the disk of the temporary files; nil if it is unknown. As long as the folder does not
    /// exist, the disk of its parent folder is used.
    var diskBytes: Int64? {
        guard let folder else { return nil }
        return (Disk.space(at: folder) ?? Disk.space(at: URL(filePath: folder).deletingLastPathComponent().path))?.free
    }

    func source(attachmentBytes: Int64, folder: String) -> SourceLimits {
        SourceLimits(
            attachmentBytes: attachmentBytes, entries: entries, temporaryBytes: unpackedBytes, freeBytes: freeBytes,
            temporaryFolder: folder)
    }
}
