import Foundation
import HesperModel
import HesperStore
import NIOCore
import StoreContract
import Testing

@testable import HesperBlobs

@Suite("Blobs in S3", .enabled(if: SeaweedFS.isInstalled, "\(SeaweedFS.absence)"))
struct S3BlobsTests {
    @Test(.timeLimit(.minutes(10)), arguments: BlobStoreContract.cases)
    func fulfils(_ contract: BlobStoreContract.Case) async throws {
        let folder = Folder()
        let blobs = S3Blobs(try await SeaweedFS.running.location())
        try await contract.run(BlobStoreContract.Subject(blobs: blobs, folder: folder.url))
    }

    @Test func checkSucceeds() async throws {
        try await S3Blobs(try await SeaweedFS.running.location()).check()
        try await S3Blobs(try await SeaweedFS.running.location(prefix: "")).check()
    }

    @Test(arguments: [
        ("AWS_ACCESS_KEY_ID", SeaweedFS.bucket, S3Credentials(accessKeyID: "AKIAX", secretAccessKey: "s3cret")),
        (
            "AWS_SECRET_ACCESS_KEY", SeaweedFS.bucket,
            S3Credentials(accessKeyID: SeaweedFS.keys.accessKeyID, secretAccessKey: "s3cret")
        ),
        ("HESPER_ATTACHMENTS", "no-such-bucket", SeaweedFS.keys),
    ]) func reportsTheInvalidSetting(_ variable: String, bucket: String, keys: S3Credentials) async throws {
        let blobs = S3Blobs(try await SeaweedFS.running.location(bucket: bucket, keys: keys))
        let error = await #expect(throws: S3LocationError.self) { try await blobs.check() }
        #expect(error?.variable == variable, "\(error?.description ?? "")")
        #expect(error?.description.contains("s3cret") == false)
    }

    @Test func errorsContainTheCodeButNoSecrets() async throws {
        let keys = S3Credentials(accessKeyID: SeaweedFS.keys.accessKeyID, secretAccessKey: "s3cret")
        let blobs = S3Blobs(try await SeaweedFS.running.location(keys: keys))
        let name = BlobStoreContract.Subject.name()
        for call: @Sendable () async throws -> Void in [
            { _ = try await blobs.write(name, BlobSample(9).pieces()) { _ in } },
            { _ = try await blobs.write(name, BlobSample(9 << 20).pieces()) { _ in } },
            { _ = try await blobs.read(name, 0..<1) },
            { try await blobs.entries { _ in } },
        ] {
            let error = await #expect(throws: StoreError.self) { try await call() }
            guard case .unavailable(let text)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(text.contains("403 SignatureDoesNotMatch"), "\(text)")
            #expect(!text.contains("s3cret") && !text.contains(keys.accessKeyID), "\(text)")
        }
    }

    @Test func ignoresOtherObjects() async throws {
        let location = try await SeaweedFS.running.location()
        let (blobs, client) = (S3Blobs(location), S3Client(location))
        let subject = BlobStoreContract.Subject(blobs: blobs, folder: Folder().url)
        let name = try await subject.write(BlobSample(5))
        let unusualKey = "a b/<&>\"'+%20é\u{301}/ü.txt"
        try await S3Object(client: client, key: "\(location.prefix)/\(unusualKey)").put(ByteBuffer(string: "four"))
        try await S3Object(client: client, key: "\(location.prefix)-too/1").put(ByteBuffer(string: "four"))
        let foreign = try await S3Upload.begin("\(location.prefix)/1/readme", by: client)
        let entries = try await subject.entries()
        #expect(Set(entries.map(\.path)) == [name.path, unusualKey])
        #expect(entries.first { $0.path == unusualKey }?.name == nil)
        #expect(entries.first { $0.path == unusualKey }?.byteCount == 4)
        try await subject.expectNothingUnfinished()
        let tag = try await foreign.send(ByteBuffer(string: "mine"), number: 1)
        try await foreign.complete([tag], byteCount: 4)
    }

    @Test func worksWithoutAPrefix() async throws {
        let location = try await SeaweedFS.running.location(prefix: "")
        let blobs = S3Blobs(location)
        let subject = BlobStoreContract.Subject(blobs: blobs, folder: Folder().url)
        let name = try await subject.write(BlobSample(5), BlobStoreContract.Subject.name(.random(in: 1 << 40 ... .max)))
        #expect(try await subject.entries().contains { $0.name == name })
        try await subject.expectBytes(name, are: BlobSample(5))
        try await blobs.remove(name)
    }
}
