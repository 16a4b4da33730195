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
    func fulfils(_ contract: BlobStoreContract.Case) async throws {
        let subject = try FolderSubject()
        try await contract.run(subject.subject)
    }

    @Test func filesAreAccessibleOnlyToTheirOwner() async throws {
        let subject = try FolderSubject()
        let name = try await subject.write(BlobSample(9))
        let path = try subject.file(BlobSample(5))
        let adopted = BlobStoreContract.Subject.name(2)
        _ = try await subject.blobs.adopt(path, as: adopted) { _ in }
        #expect(try subject.mode(name.path) == 0o600)
        for folder in ["", "unfinished", "1", "1/\(name.attachment.description.prefix(2))", "2"] {
            #expect(try subject.mode(folder) == 0o700, "\(folder)")
        }
    }

    @Test func blobIsAFileWithItsName() async throws {
        let subject = try FolderSubject()
        let name = try await subject.write(BlobSample(70_000))
        let data = try Data(contentsOf: subject.root.appending(path: name.path))
        #expect(ByteBuffer(bytes: data) == BlobSample(70_000)[0..<70_000])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: subject.root.appending(path: "unfinished").path) == [])
    }

    @Test func emptyFoldersAreRemoved() async throws {
        let subject = try FolderSubject()
        let first = try await subject.write(BlobSample(1), BlobStoreContract.Subject.name(7))
        let second = try await subject.write(BlobSample(1), BlobName(scope: first.scope, attachment: first.attachment))
        try await subject.blobs.remove(first)
        #expect(subject.exists("7"))
        try await subject.blobs.remove(second)
        #expect(!subject.exists("7"))
        #expect(subject.exists("unfinished"))
    }

    @Test func unknownFilesAreListedWithoutAName() async throws {
        let subject = try FolderSubject()
        let name = try await subject.write(BlobSample(3))
        try Data("four".utf8).write(
            to: subject.root.appending(path: name.path).deletingLastPathComponent().appending(path: "x y"))
        try Data("note".utf8).write(to: subject.root.appending(path: "README"))
        let entries = try await subject.entries()
        let foreign = try #require(entries.first { $0.name == nil })
        #expect(entries.count == 2)
        #expect(foreign.path == "1/\(name.attachment.description.prefix(2))/x y")
        #expect(foreign.byteCount == 4)
    }

    /// Concurrent writers and removers of one scope create and remove the same folders.
    @Test func foldersMayBeRemovedConcurrently() async throws {
        let subject = try FolderSubject()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<50 { try await subject.blobs.remove(try await subject.write(BlobSample(1))) }
                }
            }
            try await group.waitForAll()
        }
        #expect(!subject.exists("1"))
    }

    @Test func oldUnfinishedFilesAreRemoved() async throws {
        let subject = try FolderSubject()
        let (old, young) = (
            subject.root.appending(path: "unfinished/old"), subject.root.appending(path: "unfinished/young")
        )
        for url in [old, young] { try Data("x".utf8).write(to: url) }
        let now = Date()
        try FileManager.default.setAttributes(
            [.modificationDate: now.addingTimeInterval(-7_200)], ofItemAtPath: old.path)
        let limit = Timestamp(clamping: Int64(now.timeIntervalSince1970 - 3_600) * 1_000)
        #expect(try await subject.blobs.removeUnfinished(before: limit) == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: old.deletingLastPathComponent().path) == ["young"])
    }

    @Test func folderThatCannotBeCreatedIsUnavailable() throws {
        let folder = Folder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: folder.url.appending(path: "file"))
        #expect(throws: StoreError.self) { try FolderBlobs(path: folder.path("file/attachments")) }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"), "needs /proc"))
    func filesAreClosed() async throws {
        let subject = try FolderSubject()
        let name = try await subject.write(BlobSample(3 << 20))
        for index in 0..<40 {
            _ = try? await subject.blobs.write(BlobStoreContract.Subject.name(), BlobSample(600_000).pieces()) { _ in
                if index % 2 == 0 { throw CancellationError() }
            }
            let bytes = try await subject.blobs.read(name, 0..<(3 << 20))
            if index % 3 == 0 { for try await _ in bytes { break } }
            if index % 3 == 1 { for try await _ in bytes {} }
            _ = try? await subject.blobs.adopt(subject.file(BlobSample(9)), as: BlobStoreContract.Subject.name()) { _ in
                if index % 2 == 0 { throw CancellationError() }
            }
        }
        // Files of abandoned reads are closed later, on threads of the pool.
        for _ in 0..<3_000 where try subject.openFiles() > 0 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(try subject.openFiles() == 0)
    }
}
