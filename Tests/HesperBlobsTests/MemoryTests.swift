import Foundation
import HesperBlobs
import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import NIOCore
import StoreContract
import Testing

/// A blob of 400 MB is streamed in and out in a process of its own, whose memory is watched.
@Suite("Memory does not grow with a blob", .enabled(if: Resident.isKnown, "needs /proc"))
struct MemoryTests {
    @Test(.timeLimit(.minutes(10))) func ofAFolder() async throws {
        await #expect(processExitsWith: .success) {
            let folder = Folder()
            let blobs = try FolderBlobs(path: folder.path("attachments"))
            try await MemoryTests.stream(BlobStoreContract.Subject(blobs: blobs, folder: folder.url))
        }
    }

    @Test(.timeLimit(.minutes(10)), .enabled(if: SeaweedFS.isInstalled, "\(SeaweedFS.absence)"))
    func ofS3() async throws {
        await #expect(processExitsWith: .success) {
            let blobs = S3Blobs(try await SeaweedFS.running.location())
            try await MemoryTests.stream(BlobStoreContract.Subject(blobs: blobs, folder: Folder().url))
        }
    }

    static let bound = MemoryAllowance.factor * 100 << 20

    static func stream(_ subject: BlobStoreContract.Subject) async throws {
        let (begin, most) = (Resident.bytes, NIOLockedValueBox(0))
        @Sendable func look() { most.withLockedValue { $0 = max($0, Resident.bytes - begin) } }
        let (sample, name) = (BlobSample(400_000_000), BlobStoreContract.Subject.name())
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
        #expect((1 << 20..<bound).contains(growth), "\(growth >> 20) MiB more")
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
