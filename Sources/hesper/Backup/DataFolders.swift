import Foundation
import HesperBlobs

/// The folders that an installation uses. A backup folder must not overlap with them, because the server and the backup each
/// remove unknown files from their folders.
struct DataFolders {
    private struct Folder {
        let path: String
        /// The words that messages use for the contents of the folder, for example `the data`.
        let contents: String
        /// Whether a backup folder may be inside this folder.
        var isOpen = false
    }

    private let folders: [Folder]

    /// - Parameter database: the folder of the database. It may differ from the data folder of the settings.
    init(_ settings: Settings, database: String) throws {
        var folders = [database, settings.data].map { Folder(path: $0, contents: "the data", isOpen: true) }
        let attachments = try settings.attachments()
        if !S3Location.isURL(attachments) { folders.append(Folder(path: attachments, contents: "the attachments")) }
        folders += [
            // The default folder for attachments is included even if another location is set for them. If the operator removes that
            // setting later, the server uses the default folder.
            Folder(path: settings.defaultAttachments, contents: "the attachments"),
            Folder(path: settings.uploads, contents: "the uploads"),
            Folder(path: settings.imports, contents: "the imports"),
            Folder(path: OwnCertificate.folder(in: settings.data), contents: "the certificate"),
            Folder(
                path: URL(filePath: database).appending(path: RestoredFolder.restoring).relativePath,
                contents: "a restore"),
        ]
        self.folders = folders
    }

    /// Describes how a backup folder overlaps with one of the installation's folders. Nil if it overlaps with none of them.
    func overlap(with backup: String) -> String? {
        let path = RealPath(backup)
        for folder in folders {
            let other = RealPath(folder.path)
            if path == other { return "\(backup) is the folder of \(folder.contents)" }
            if path.contains(other) { return "\(backup) contains \(folder.path), the folder of \(folder.contents)" }
            if !folder.isOpen, other.contains(path) {
                return "\(backup) is inside \(folder.path), the folder of \(folder.contents)"
            }
        }
        return nil
    }
}
