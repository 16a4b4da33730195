import Foundation
import HesperBlobs
import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import StoreContract
import Testing

@testable import HesperPostgres

@Suite(
    "Uploads in PostgreSQL",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct UploadTests {
    /// Runs `body` with two servers on one database, each of which can continue the other's uploads.
    private func with(_ body: @Sendable (UploadStageContract.Subject, Stores) async throws -> Void) async throws {
        let folder = URL(filePath: NSTemporaryDirectory()).appending(path: "hesper-uploads-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await Stores.with { stores in
            let subject = UploadStageContract.Subject(
                stage: try #require(try await stores.open().uploadStage),
                blobs: try FolderBlobs(path: folder.path), other: try await stores.open().uploadStage)
            try await body(subject, stores)
        }
    }

    @Test(arguments: UploadStageContract.cases)
    func conforms(_ contract: UploadStageContract.Case) async throws {
        try await with { subject, _ in try await contract.run(subject) }
    }

    @Test func partsHaveALimitedSizeAndAreRemovedWithTheUpload() async throws {
        try await with { subject, stores in
            let (id, sample) = (UniqueID.random(), BlobSample((3 << 20) + 5))
            try await subject.stage.create(id)
            _ = try await subject.stage.append(sample.pieces(), to: id, at: 0, limit: .max, checking: nil)
            let store = try await stores.open()
            let sizes = try await store.run { try $0.all("SELECT length(bytes) FROM upload_parts") { $0.int(0) } }
            #expect(sizes.reduce(0, +) == Int(sample.byteCount))
            #expect(try #require(sizes.max()) < 700_000)
            try await subject.stage.remove(id)
            #expect(try await store.run { try $0.first("SELECT count(*) FROM upload_parts") { $0.int(0) } } == 0)
        }
    }

    @Test("Each statement except the list of all concerns one upload")
    func statements() async throws {
        let log = NIOLockedValueBox<Set<String>>([])
        for contract in UploadStageContract.cases {
            try await with { subject, stores in
                let store = try await stores.open(log: { sql in log.withLockedValue { _ = $0.insert(sql) } })
                try await contract.run(
                    UploadStageContract.Subject(stage: try #require(store.uploadStage), blobs: subject.blobs))
            }
        }
        let statements = log.withLockedValue { $0 }.filter { $0.contains("upload") }
        #expect(statements.count == 9)
        for statement in statements where statement != "SELECT upload FROM staged_uploads" {
            #expect(
                statement.contains("upload = $1") || statement.contains("(upload) VALUES ($1)")
                    || statement.contains("(upload, start, bytes) VALUES ($1"), "\(statement)")
        }
    }
}
