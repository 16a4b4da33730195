import Foundation
import HesperBlobs
import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import StoreContract
import Testing

@testable import HesperPostgres

/// A primary whose commits wait for a missing standby. Changes that are visible on it may be lost if that standby takes over.
@Suite(.enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct LostStandbyTests {
    private static func configure(_ server: PostgresServer, _ change: String) async throws {
        try await server.administer("ALTER SYSTEM \(change)")
        try await server.administer("SELECT pg_reload_conf()")
    }

    /// Writes until a write fails, because the server's processes apply the new setting one by one.
    private static func waitUntilRefused(_ desk: TestClient) async throws {
        for _ in 1...200 {
            do { try await desk.push(desk.note(.random(), "Milk")) } catch StoreError.unavailable(_) { return }
        }
        Issue.record("commits do not wait for the standby")
    }

    @Test func bytesAreDeletedOnlyAfterTheStandbyHasTheDeletion() async throws {
        let folder = URL(filePath: NSTemporaryDirectory()).appending(path: "hesper-standby-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await PostgresServer()
        let database = try await server.database()
        defer { _ = database }
        var settings = database.settings
        settings.size = 4
        settings.statementTimeout = .seconds(2)
        let store = try await PostgresStore(settings)
        let desk = try await TestClient(store)
        let blobs = try FolderBlobs(path: folder.path)
        let name = BlobName(scope: desk.scope, attachment: .random())
        let data = try await blobs.write(name, BlobSample(1_000).pieces()) { _ in }
        let blob = Blob(name: name, data: data, arrivalDate: TestClient.now)
        try await store.write { try $0.insert(blob) }

        try await LostStandbyTests.configure(server, "SET synchronous_standby_names = 'missing'")
        try await LostStandbyTests.waitUntilRefused(desk)
        let scope = desk.scope
        await #expect(throws: StoreError.self) {
            try await store.write { try $0.removeBlob(of: name.attachment, in: scope) }
        }
        #expect(try await store.read { try $0.removedBlobs(limit: 9) } == [name], "the deletion is visible")

        // Blobs without a row are found when they are a day old, and deleted an hour later.
        let time = NIOLockedValueBox(Timestamp(clamping: Int64(Date().timeIntervalSince1970 * 1_000)))
        let sweeper = Sweeper(
            store: store, queue: PushQueue(store: store), blobs: blobs, stage: try #require(store.uploadStage),
            policy: SweepPolicy(), now: { time.withLockedValue { $0 } }, throttle: WriterThrottle(rest: { _ in }))
        for later in [0, 2 * Timestamp.day, 2 * Timestamp.hour] {
            time.withLockedValue { $0 = $0.adding(later) }
            #expect(await !sweeper.sweep { _ in })
            #expect(try await blobs.has(blob))
        }
        try await LostStandbyTests.configure(server, "RESET synchronous_standby_names")
        // The marker beside the bytes must be renewed first; that attempt has just failed and is retried after a pause.
        for _ in 1...20 {
            time.withLockedValue { $0 = $0.adding(60_000) }
            _ = await sweeper.sweep { _ in }
        }
        #expect(try await blobs.byteCount(of: name) == nil)
        #expect(try await store.read { try $0.removedBlobs(limit: 9) } == [])
        await store.close()
    }
}
