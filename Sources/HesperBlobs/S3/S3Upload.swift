import HesperModel
import HesperStore
import NIOCore
import NIOHTTP1

/// An object on its way in parts. Until it is completed, there is no object.
struct S3Upload: Sendable {
    let client: S3Client
    let key: String
    let id: String

    /// How long the server may take to put parts together, or a slow line to carry one.
    private static let deadline = TimeAmount.minutes(10)

    static func begin(_ key: String, by client: S3Client) async throws -> S3Upload {
        let answer = try await client.receive(
            S3Request(.POST, key, query: [("uploads", "")], headers: ["Content-Type": S3Object.type]))
        guard let id = answer.xml?["UploadId"], !id.isEmpty else {
            throw StoreError.failed("S3: the answer to a new upload of \(key) has no UploadId")
        }
        return S3Upload(client: client, key: key, id: id)
    }

    /// - Parameter number: from 1.
    /// - Returns: the part's ETag.
    func send(_ part: ByteBuffer, number: Int) async throws -> String {
        let answer = try await client.receive(
            S3Request(.PUT, key, query: [("partNumber", "\(number)"), ("uploadId", id)], body: part),
            within: S3Upload.deadline)
        guard let tag = answer.headers.first(name: "ETag") else {
            throw StoreError.failed("S3: the answer to part \(number) of \(key) has no ETag")
        }
        return tag
    }

    /// Makes an object of the parts. When it throws, the object may be there nevertheless.
    func complete(_ tags: [String], byteCount: Int64) async throws {
        let parts = tags.enumerated().map {
            "<Part><PartNumber>\($0.offset + 1)</PartNumber><ETag>\(S3XML.encoded($0.element))</ETag></Part>"
        }
        let body = "<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>"
        do {
            _ = try await client.receive(
                S3Request(
                    .POST, key, query: [("uploadId", id)], headers: ["Content-Type": "application/xml"],
                    body: ByteBuffer(string: body)), within: S3Upload.deadline)
        } catch let failure as S3Failure where failure.status == .notFound {
            // The answer to an earlier attempt may have been lost on its way.
            guard try await S3Object(client: client, key: key).byteCount() == byteCount else { throw failure }
        }
    }

    /// Gives the parts up. That the upload is gone already is as good.
    func abort() async throws {
        do {
            _ = try await client.receive(S3Request(.DELETE, key, query: [("uploadId", id)]))
        } catch let failure as S3Failure where failure.status == .notFound {}
    }
}
