import Foundation
import HesperBlobs
import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import NIOCore
import StoreContract
import Testing

/// A blob of 500 MB is streamed, in and out, while the whole process is watched. Other tests run
/// beside it and want memory too: the bound leaves room for them, and none for the blob.
@Suite("Memory does not grow with a blob", .enabled(if: Resident.isKnown, "needs /proc"))
struct MemoryTests {
    static let sample = BlobSample(500_000_000)
    static let bound = 250 << 20

    @Test(.timeLimit(.minutes(5))) func ofAFolder() async throws {
        let folder = Folder()
        try await stream(
            BlobStoreContract.Subject(blobs: try FolderBlobs(path: folder.path("attachments")), folder: folder.url))
    }

    @Test(.timeLimit(.minutes(5)), .enabled(if: SeaweedFS.isInstalled, "\(SeaweedFS.absence)")) func ofS3() async throws
    {
        let folder = Folder()
        let blobs = S3Blobs(try await SeaweedFS.running.location())
        try await stream(BlobStoreContract.Subject(blobs: blobs, folder: folder.url))
    }

    private func stream(_ subject: BlobStoreContract.Subject) async throws {
        let (begin, most) = (Resident.bytes, NIOLockedValueBox(0))
        @Sendable func look() { most.withLockedValue { $0 = max($0, Resident.bytes - begin) } }
        let (sample, name) = (MemoryTests.sample, BlobStoreContract.Subject.name())
        let pieces = sample.pieces(of: 1 << 20) { _ in look() }
        #expect(try await subject.blobs.write(name, pieces) { _ in }.byteCount == sample.byteCount)
        var offset: Int64 = 0
        for try await buffer in try await subject.blobs.read(name, 0..<sample.byteCount) {
            if offset >> 24 != (offset + Int64(buffer.readableBytes)) >> 24 { look() }
            offset += Int64(buffer.readableBytes)
        }
        #expect(offset == sample.byteCount)
        try await subject.blobs.remove(name)
        let growth = most.withLockedValue { $0 }
        #expect(growth < MemoryTests.bound, "\(growth >> 20) MiB more")
    }
}

/// The memory that this process has.
enum Resident {
    static let isKnown = bytes > 0

    static var bytes: Int {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") })
        else { return 0 }
        return (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) << 10
    }
}
