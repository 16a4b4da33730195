import Foundation
import HesperBlobs

/// The folders that an installation works in. None of them is shared with a backup: each side removes what it takes for left
/// over, and takes what is the other's for that.
struct DataFolders {
    private struct Folder {
        let path: String
        /// What it is the folder of.
        let what: String
        /// Whether a folder of somebody else's may lie in it.
        var isOpen = false
    }

    private let folders: [Folder]

    /// - Parameter database: the folder of the database, which may be another than that of the rest.
    init(_ settings: Settings, database: String) throws {
        var folders = [database, settings.data].map { Folder(path: $0, what: "the data", isOpen: true) }
        let attachments = try settings.attachments()
        if !S3Location.isMeant(by: attachments) { folders.append(Folder(path: attachments, what: "the attachments")) }
        folders += [
            // Also while the attachments are elsewhere: without that setting the server would look for them here.
            Folder(path: settings.ownAttachments, what: "the attachments"),
            Folder(path: settings.uploads, what: "the uploads"),
            Folder(path: OwnCertificate.folder(in: settings.data), what: "the certificate"),
            Folder(
                path: URL(filePath: database).appending(path: RestoredFolder.restoring).relativePath, what: "a restore"),
        ]
        self.folders = folders
    }

    /// How the folder of a backup meets one of these, in words; nil if it does not.
    func overlap(with backup: String) -> String? {
        let path = RealPath(backup)
        for folder in folders {
            let other = RealPath(folder.path)
            if path == other { return "\(backup) is where the data is" }
            if path.contains(other) { return "\(backup) contains \(folder.path), the folder of \(folder.what)" }
            if !folder.isOpen, other.contains(path) {
                return "\(backup) lies in \(folder.path), the folder of \(folder.what)"
            }
        }
        return nil
    }
}
