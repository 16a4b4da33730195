import Foundation
import HesperBlobs
import HesperModel
import HesperStore
import NIOCore
import StoreContract
import Testing

@Suite("Blobs in a folder")
struct FolderBlobsTests {
    @Test(arguments: BlobStoreContract.cases)
    func keeps(_ contract: BlobStoreContract.Case) async throws {
        let folder = Folder()
        let blobs = try FolderBlobs(path: folder.path("attachments"))
        try await contract.run(BlobStoreContract.Subject(blobs: blobs, folder: folder.url))
    }
}
