import Foundation
import GRDB
import HesperModel
import HesperStore
import StoreContract
import Testing

@testable import HesperSQLite

@Suite("Copies of a database")
struct CopyTests {
    private let folder = Folder()
    private var path: String { folder.url.appending(path: "copy").path }

    /// Creates a database with a device, a note, a blob and an upload, and copies it.
    private func copied() async throws -> (store: SQLiteStore, blob: Blob) {
        let store = try SQLiteStore(folder: folder.url)
        let desk = try await TestClient(store)
        _ = try await desk.pushNoteAndTag()
        let blob = Blob(
            name: BlobName(scope: desk.scope, attachment: .random()), data: BlobSample(10).data,
            arrivalDate: TestClient.now)
        try await store.write { [scope = desk.scope] in
            try $0.insert(blob)
            try $0.insert(
                Upload(
                    uniqueID: .random(), attachment: .random(), length: nil, sha256: nil, creationDate: TestClient.now),
                in: scope)
        }
        try await store.copy(to: path)
        return (store, blob)
    }

    private func values<T: DatabaseValueConvertible & Sendable>(_ type: T.Type, _ sql: String) async throws -> [T] {
        try await DatabaseQueue(path: path).read { try T.fetchAll($0, sql: sql) }
    }

    @Test func aCopyIsASnapshotInOneFile() async throws {
        let (store, blob) = try await copied()
        let copy = SQLiteCopy(path: path)
        #expect(try copy.blobs() == [blob])
        #expect(try copy.accountCount() == 1)
        // In WAL mode the file would not be complete by itself.
        #expect(try await values(String.self, "PRAGMA journal_mode") == ["delete"])
        #expect(try await values(Int.self, "PRAGMA user_version") == [Migrations.version])
        // A file that is not empty is not overwritten.
        await #expect(throws: StoreError.self) { try await store.copy(to: path) }
        #expect(try copy.blobs() == [blob])
        try store.close()
    }

    @Test func writesContinueDuringACopy() async throws {
        let store = try SQLiteStore(folder: folder.url)
        let desk = try await TestClient(store)
        let other = try SQLiteStore(folder: folder.url)
        async let copying: Void = other.copy(to: path)
        for _ in 0..<20 { _ = try await desk.pushNoteAndTag() }
        try await copying
        let copies = try await values(Int.self, "SELECT count(*) FROM objects")[0]
        #expect((0...40).contains(copies))
        #expect(try await values(String.self, "PRAGMA integrity_check") == ["ok"])
        try store.close()
        try other.close()
    }

    @Test func beginningANewEpochChangesTheEpochAndRemovesUploads() async throws {
        let (store, blob) = try await copied()
        let before = store.installation
        let copy = SQLiteCopy(path: path)
        try copy.beginNewEpoch()
        #expect(try copy.blobs() == [blob])
        let epochs = try await values(Int64.self, "SELECT epoch FROM installation")
        #expect(epochs.count == 1 && UInt64(bitPattern: epochs[0]) != before.epoch)
        #expect(try await values(Int.self, "SELECT count(*) FROM uploads") == [0])
        try store.close()
    }

    /// A new epoch removes all credentials, whichever table contains them.
    @Test func beginningANewEpochRemovesAllTokens() async throws {
        let (store, _) = try await copied()
        try SQLiteCopy(path: path).beginNewEpoch()
        let tables = try await values(
            String.self,
            """
            SELECT DISTINCT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
            WHERE m.type = 'table' AND c.name IN ('token', 'token_hash', 'code', 'code_hash', 'secret')
            """)
        #expect(tables.contains("devices"))
        for table in tables {
            #expect(try await values(Int.self, "SELECT count(*) FROM \(table)") == [0], "\(table) has tokens")
        }
        try store.close()
    }

    @Test func aCopyOfALaterVersionIsRefused() async throws {
        let (store, _) = try await copied()
        try await DatabaseQueue(path: path).write { try $0.execute(sql: "PRAGMA user_version = 99") }
        #expect(throws: StoreError.newerDatabase(version: 99, known: Migrations.version)) {
            try SQLiteCopy(path: path).beginNewEpoch()
        }
        try store.close()
    }
}
