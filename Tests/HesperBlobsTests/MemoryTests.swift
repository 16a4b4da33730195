import Foundation
import HesperBlobs
import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import NIOCore
import StoreContract
import Testing

/// Writes and reads a blob of 400 MB in a separate process, whose memory is measured.
@Suite("Memory use is independent of blob size", .enabled(if: Resident.isKnown, "needs /proc"))
struct MemoryTests {
    @Test(.timeLimit(.minutes(10))) func folder() async throws {
        await #expect(processExitsWith: .success) {
            let folder = Folder()
            let blobs = try FolderBlobs(path: folder.path("attachments"))
            try await MemoryTests.stream(BlobStoreContract.Subject(blobs: blobs, folder: folder.url))
        }
    }

    @Test(.timeLimit(.minutes(10)), .enabled(if: SeaweedFS.isInstalled, "\(SeaweedFS.absence)"))
    func s3() async throws {
        await #expect(processExitsWith: .success) {
            let blobs = S3Blobs(try await SeaweedFS.running.location())
            try await MemoryTests.stream(BlobStoreContract.Subject(blobs: blobs, folder: Folder().url))
        }
    }

    static let bound = MemoryAllowance.factor * 100 << 20

    static func stream(_ subject: BlobStoreContract.Subject) async throws {
        let (start, peak) = (Resident.bytes, NIOLockedValueBox(0))
        @Sendable func measure() { peak.withLockedValue { $0 = max($0, Resident.bytes - start) } }
        let (sample, name) = (BlobSample(400_000_000), BlobStoreContract.Subject.name())
        let pieces = sample.pieces(of: 1 << 20) { _ in measure() }
        #expect(try await subject.blobs.write(name, pieces) { _ in }.byteCount == sample.byteCount)
        var offset: Int64 = 0
        for try await buffer in try await subject.blobs.read(name, 0..<sample.byteCount) {
            if offset >> 24 != (offset + Int64(buffer.readableBytes)) >> 24 { measure() }
            offset += Int64(buffer.readableBytes)
        }
        #expect(offset == sample.byteCount)
        try await subject.blobs.remove(name)
        let growth = peak.withLockedValue { $0 }
        #expect((1 << 20..<bound).contains(growth), "\(growth >> 20) MiB more")
    }
}

/// The resident memory of this process.
enum Resident {
    static let isKnown = bytes > 0

    static var bytes: Int {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") })
        else { return 0 }
        return (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) << 10
    }
}
