import Foundation
import HesperBlobs
import HesperModel
import HesperStore
import StoreContract

/// Blobs in a temporary folder, with access to the files.
struct FolderSubject: Sendable {
    private let folder = Folder()
    let subject: BlobStoreContract.Subject

    init() throws {
        subject = BlobStoreContract.Subject(
            blobs: try FolderBlobs(path: folder.path("attachments")), folder: folder.url)
    }

    var blobs: any BlobStore { subject.blobs }
    var root: URL { folder.url.appending(path: "attachments") }

    func write(_ sample: BlobSample, _ name: BlobName = BlobStoreContract.Subject.name()) async throws -> BlobName {
        try await subject.write(sample, name)
    }

    func entries() async throws -> [BlobEntry] { try await subject.entries() }
    func file(_ sample: BlobSample) throws -> String { try subject.file(sample) }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: root.appending(path: path).path) }

    func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: root.appending(path: path).path)
        return attributes[.posixPermissions] as? Int ?? -1
    }

    /// The number of files in the folder that this process has open.
    func openFiles() throws -> Int {
        let folder = "/proc/self/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).count { number in
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)")
            return path?.hasPrefix(self.folder.url.path) == true
        }
    }
}
