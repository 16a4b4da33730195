import Foundation
import HesperModel
import HesperStore
import Testing

@testable import HesperBlobs

@Suite("Backup series")
struct BackupSeriesTests {
    private let folder = Folder()
    private let installation = NodeID.random()
    private var series: BackupSeries { BackupSeries(path: folder.url.path, installation: installation) }

    init() throws { try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true) }

    /// Adds a backup of a small file as the database.
    private func add(_ date: String) async throws -> BackupSeries.Entry {
        let date = try #require(Timestamp(date))
        return try await series.add { folder, _ in
            let database = try folder.begin()
            try Data(date.description.utf8).write(to: URL(filePath: database))
            return try await folder.finish(
                database: database, blobs: [], missing: [], date: date, installation: installation)
        }
    }

    @Test func backupsAreNamedByDate() async throws {
        let added = try await add("2026-11-23T03:00:59Z")
        #expect(added.path == folder.path("2026-11-23T0300Z"))
        #expect(try await series.entries() == [added])
        #expect(try await BackupSeries(path: folder.url.path, installation: .random()).entries() == [])
        // Two backups of the same minute would have the same name. The second is made a minute later.
        await #expect(throws: StoreError.self) { try await add("2026-11-23T03:00:00Z") }
        #expect(try await add("2026-11-23T03:01:00Z").path == folder.path("2026-11-23T0301Z"))
        #expect(try await series.entries().count == 2)
    }

    @Test func backupInUseIsNotRemoved() async throws {
        let old = try await add("2026-11-21T03:00:00Z")
        let new = try await add("2026-11-22T03:00:00Z")
        let removed = try await BackupFolder(path: old.path).whileLocked(shared: true) {
            try await series.removeAll(but: 1, newest: new)
        }
        #expect(removed == [])
        #expect(try await series.removeAll(but: 1, newest: new) == [old])
        #expect(try await series.entries() == [new])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["2026-11-22T0300Z"])
    }

    @Test func oneBackupAtATime() async throws {
        _ = try await series.add { folder, earlier in
            #expect(earlier == nil)
            await #expect(throws: BackupInUse.self) { try await add("2026-11-21T03:00:00Z") }
            let database = try folder.begin()
            return try await folder.finish(
                database: database, blobs: [], missing: [], date: Timestamp(clamping: 0), installation: installation)
        }
        #expect(try await series.entries().map(\.path) == [folder.path("1970-01-01T0000Z")])
    }

    @Test func missingFolderIsNotCreated() async throws {
        let path = folder.path("not mounted")
        let series = BackupSeries(path: path, installation: installation)
        await #expect(throws: StoreError.self) { try await series.entries() }
        await #expect(throws: StoreError.self) {
            try await series.add { _, _ in throw StoreError.failed("not reached") }
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
