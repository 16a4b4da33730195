import Foundation
import HesperBlobs
import HesperModel
import HesperStore
import NIOCore
import StoreContract
import Testing

@Suite("Full disk", .enabled(if: SmallDisk.isSupported, "requires root, mount and tmpfs"))
struct FullDiskTests {
    typealias Subject = BlobStoreContract.Subject

    /// A disk of 2 MiB for the blobs. Other files are elsewhere.
    private let disk: SmallDisk
    private let subject: Subject

    init() throws {
        disk = try #require(SmallDisk())
        subject = Subject(blobs: try FolderBlobs(path: disk.path), folder: Folder().url)
    }

    @Test func refusesBlobsThatDoNotFit() async throws {
        let first = try await subject.write(BlobSample(1 << 20))
        let name = Subject.name()
        for _ in 0..<3 {
            let error = await #expect(throws: StoreError.self) {
                _ = try await subject.blobs.write(name, BlobSample(3 << 20).pieces()) { _ in }
            }
            guard case .full? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        try await subject.expectNothing(name)
        try await subject.expectNothingUnfinished()
        try await subject.expectBytes(first, are: BlobSample(1 << 20))
        // Smaller blobs can still be written, and large ones after space was freed.
        try await subject.expectBytes(try await subject.write(BlobSample(300_000)), are: BlobSample(300_000))
        try await subject.blobs.remove(first)
        try await subject.expectBytes(try await subject.write(BlobSample(1 << 20)), are: BlobSample(1 << 20))
    }

    @Test func adoptsFilesFromAnotherDiskThatFit() async throws {
        let (name, other) = (Subject.name(), Subject.name())
        let path = try subject.file(BlobSample(1_000_000))
        #expect(try await subject.blobs.adopt(path, as: name) { _ in } == BlobSample(1_000_000).data)
        try await subject.expectBytes(name, are: BlobSample(1_000_000))
        #expect(FileManager.default.fileExists(atPath: path))
        let error = await #expect(throws: StoreError.self) {
            _ = try await subject.blobs.adopt(subject.file(BlobSample(3 << 20)), as: other) { _ in }
        }
        guard case .full? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        try await subject.expectNothing(other)
        try await subject.expectNothingUnfinished()
        try FileManager.default.removeItem(at: subject.folder)
    }
}

/// A file system of 2 MiB in memory.
final class SmallDisk: Sendable {
    private let folder = Folder()
    var path: String { folder.url.path }

    static let isSupported = SmallDisk() != nil

    /// Nil if it cannot be mounted.
    init?() {
        guard (try? FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)) != nil,
            SmallDisk.run("mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", folder.url.path)
        else { return nil }
    }

    deinit { _ = SmallDisk.run("umount", "-l", folder.url.path) }

    private static func run(_ arguments: String...) -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
