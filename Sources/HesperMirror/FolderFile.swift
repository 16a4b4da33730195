import CFolder

/// The properties of a file that are known without reading it.
struct FileStamp: Codable, Equatable, Sendable {
    var size: UInt64
    var inode: UInt64
    /// The time at which the contents of the file were changed, in nanoseconds since 1970.
    var modified: Int64
    /// The time at which the contents or the properties of the file were changed, in nanoseconds since 1970.
    var changed: Int64
    /// The time at which the inode was created; 0 if the file system does not store it. File systems reuse the inode number of a
    /// deleted file, so a file is identified by its inode number together with this time.
    var born: Int64
    /// Whether the file is on a different file system than the folder, because a file system is mounted within the folder.
    var isMounted = false

    /// Whether two stamps belong to the same file; false if the file system does not store ``born``.
    func isSameFile(as other: FileStamp) -> Bool {
        inode == other.inode && born == other.born && born != 0 && isMounted == other.isMounted
    }
}

/// A file of the folder, as a scan has found it.
struct FolderFile: Equatable, Sendable {
    enum Content: Equatable, Sendable {
        /// The text of a note. `file` is the hash of the file's bytes, `text` is the hash of the text.
        case text(file: String, text: String)
        /// The file was changed a moment ago and may be incomplete.
        case settling
        case unusable(SkippedFile.Reason)
    }

    let path: String
    let stamp: FileStamp
    let content: Content

    /// The hash of the file's bytes; nil if the file is settling or unusable.
    var hash: String? {
        if case .text(let hash, _) = content { hash } else { nil }
    }

    /// The hash of the file's text; nil if the file is settling or unusable.
    var textHash: String? {
        if case .text(_, let hash) = content { hash } else { nil }
    }
}

/// A file that is not synced, and the reason.
public struct SkippedFile: Codable, Equatable, Sendable {
    public enum Reason: String, Codable, Sendable {
        case tooLarge = "It is larger than 1 MiB."
        case notUTF8 = "It is not valid UTF-8."
        case binary = "It contains NUL bytes."
        case link = "It is a symbolic link."
        case unreadable = "It cannot be read."
        case special = "It is not a regular file."
        case becameEmpty = "It became empty. The note keeps its text."
        case ignored = "It is ignored by .hesperignore."
        case conflictCopy = "It is a conflict copy of a sync program."
        case mergedTooLarge = "Merged with the changes of other devices, it would be larger than 1 MiB."
        case pullOnly = "It was changed here. Nothing is sent with --pull-only."
        case cannotWrite = "It cannot be written."
        case name = "Its name is not valid Unicode."
        case unmounted = "Its folder is not mounted."
        case overLimit = "It is larger than the server allows for an attachment."
        case tooManyFiles = "Its note cannot have more attachments."
        case longPath = "Its path is too long for an attachment."
        case refused = "The server refused it."
        case noteName = "It is an attachment with the file extension of a note, so it is not written to the folder."
        case fileBecameEmpty = "It became empty. The note keeps the attachment."
        case notDownloaded = "It is an attachment that cannot be downloaded now."
    }

    public let path: String
    public let reason: Reason

    public init(path: String, reason: Reason) {
        self.path = path
        self.reason = reason
    }
}
