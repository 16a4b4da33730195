import Foundation
import HesperBlobs
import HesperModel
import HesperStore
import StoreContract
import Testing

@Suite("Uploads in a folder")
struct UploadFolderTests {
    @Test(arguments: UploadStageContract.cases)
    func fulfils(_ contract: UploadStageContract.Case) async throws {
        let folder = Folder()
        try await contract.run(
            UploadStageContract.Subject(
                stage: try UploadFolder(path: folder.path("uploads")),
                blobs: try FolderBlobs(path: folder.path("attachments"))))
    }

    @Test func uploadsSurviveARestart() async throws {
        let folder = Folder()
        let before = try UploadFolder(path: folder.path("uploads"))
        let id = UniqueID.random()
        try await before.create(id)
        _ = try await before.append(BlobSample(700_000).pieces(), to: id, at: 0, limit: .max, checking: nil)
        let after = try UploadFolder(path: folder.path("uploads"))
        #expect(try await after.byteCount(of: id) == 700_000)
        #expect(try await after.all() == [id])
    }
}
