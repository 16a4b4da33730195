import Foundation
import HesperModel
import HesperStore
import StoreContract
import Testing

@testable import HesperBlobs

@Suite("Backup folder")
struct BackupFolderTests {
    private let folder = Folder()
    private var backup: BackupFolder { BackupFolder(path: folder.url.path) }

    private func blob(_ sample: BlobSample) -> Blob {
        Blob(
            name: BlobName(scope: ScopeID(1), attachment: .random()), data: sample.data,
            arrivalDate: Timestamp(clamping: 0))
    }

    /// Makes a backup of a small file as the database, and one blob.
    @discardableResult
    private func make(_ text: String, _ sample: BlobSample) async throws -> BackupManifest {
        let database = try await backup.whileLocked { try backup.begin() }
        try Data(text.utf8).write(to: URL(filePath: database))
        if try await !backup.contains(sample.data) { #expect(try await backup.store(sample.data, sample.pieces())) }
        return try await backup.finish(
            database: database, blobs: [blob(sample)], missing: ["1/3f/lost"], date: Timestamp(clamping: 1_000))
    }

    private func names() throws -> Set<String> {
        Set(
            try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).filter {
                var isFolder: ObjCBool = false
                return FileManager.default.fileExists(atPath: folder.path($0), isDirectory: &isFolder)
                    && !isFolder.boolValue
            })
    }

    @Test func containsTheFilesInTheManifest() async throws {
        let sample = BlobSample(700_000)
        let manifest = try await make("a database", sample)
        #expect(try backup.manifest() == manifest)
        #expect(manifest.missing == ["1/3f/lost"])
        let digest = sample.data.sha256
        #expect(try names() == ["backup.json", manifest.file, "attachments/\(digest.prefix(2))/\(digest)"])
        try await backup.copyDatabase(manifest, to: folder.path("copy"))
        #expect(try Data(contentsOf: URL(filePath: folder.path("copy"))) == Data("a database".utf8))
        var hasher = AttachmentHasher()
        for try await chunk in try await backup.bytes(sample.data) { hasher.update(chunk) }
        #expect(hasher.data == sample.data)
    }

    @Test func nextBackupReplacesThePrevious() async throws {
        let first = try await make("one", BlobSample(10))
        let second = try await make("two", BlobSample(20))
        let digest = BlobSample(20).data.sha256
        #expect(try names() == ["backup.json", second.file, "attachments/\(digest.prefix(2))/\(digest)"])
        #expect(first.file != second.file)
    }

    /// The previous backup stays valid until the next is finished.
    @Test func staysValidUntilTheNextIsComplete() async throws {
        let first = try await make("one", BlobSample(10))
        let database = try backup.begin()
        try Data("two".utf8).write(to: URL(filePath: database))
        #expect(try await backup.store(BlobSample(20).data, BlobSample(20).pieces()))
        #expect(try backup.manifest() == first)
        #expect(try await backup.contains(BlobSample(10).data))
        try await backup.copyDatabase(first, to: folder.path("unfinished/copy"))
        // The next backup removes the files of an interrupted one.
        _ = try backup.begin()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("unfinished")) == ["database"])
    }

    @Test func storesOnlyBytesThatMatchTheDigest() async throws {
        _ = try await backup.whileLocked { try backup.begin() }
        #expect(try await backup.store(BlobSample(20).data, BlobSample(21).pieces()) == false)
        #expect(try await backup.contains(BlobSample(20).data) == false)
        #expect(try names() == ["unfinished/database"])
    }

    @Test func hasOneWriterAtATime() async throws {
        try await make("one", BlobSample(1))
        try await backup.whileLocked {
            await #expect(throws: BackupInUse.self) { try await backup.whileLocked {} }
            await #expect(throws: BackupInUse.self) { try await backup.whileLocked(shared: true) {} }
        }
        try await backup.whileLocked(shared: true) {
            try await backup.whileLocked(shared: true) {}
            await #expect(throws: BackupInUse.self) { try await backup.whileLocked {} }
        }
    }

    @Test(arguments: ["letter.txt", "hesper.sqlite", "hesper-123.sqlite", "hesper-9F86D081884C7D65.sqlite"])
    func refusesAFolderWithOtherFiles(_ name: String) async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try Data().write(to: folder.url.appending(path: name))
        #expect(throws: BackupUnknownFile(name: name)) { try backup.begin() }
    }

    /// File names in the manifest cannot refer to other folders.
    @Test(arguments: ["../hesper.sqlite", "hesper-../../x.sqlite", "backup.json", "hesper-9f86d081884c7d65.sqlite/"])
    func refusesOtherFileNames(_ file: String) {
        let manifest = BackupManifest(
            date: Timestamp(clamping: 0), file: file, database: BlobSample(1).data, attachments: 0, missing: [])
        #expect(throws: BackupDamaged("x is incomplete.")) { try BackupManifest(manifest.bytes, of: "x") }
    }

    @Test func restoredFolderIsCreatedAndResumed() throws {
        let path = folder.path("data")
        func target() throws -> RestoredFolder {
            try RestoredFolder(path: path, database: "hesper.sqlite", settings: "hesper.json")
        }
        do {
            let first = try target()
            #expect(RestoredFolder.isUnfinished(path, database: "hesper.sqlite"))
            #expect(throws: RestoreRefusal.inUse) { try target() }
            try Data("partial".utf8).write(to: URL(filePath: first.database))
        }
        do {
            let second = try target()
            #expect(!FileManager.default.fileExists(atPath: second.database))
            try Data("complete".utf8).write(to: URL(filePath: second.database))
            try second.finish()
        }
        #expect(!RestoredFolder.isUnfinished(path, database: "hesper.sqlite"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["hesper.sqlite"])
        #expect(throws: RestoreRefusal.notEmpty("hesper.sqlite")) { try target() }
    }

    /// Links bytes from an earlier backup only if they have the right size.
    @Test func linksBytesOfAnotherBackup() async throws {
        let (sample, truncated) = (BlobSample(700), BlobSample(800))
        try await make("one", sample)
        let other = BackupFolder(path: folder.path("other"))
        _ = try await other.whileLocked { try other.begin() }
        #expect(try await other.link(sample.data, from: backup))
        #expect(try await other.damage(to: sample.data) == nil)
        #expect(try await other.link(truncated.data, from: backup) == false)
        #expect(try await other.contains(truncated.data) == false)
        // A truncated file is not linked.
        let digest = truncated.data.sha256
        let parent = URL(filePath: folder.path("attachments/\(digest.prefix(2))"))
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        try Data("?".utf8).write(to: parent.appending(path: digest))
        #expect(try await other.link(truncated.data, from: backup) == false)
    }
}
