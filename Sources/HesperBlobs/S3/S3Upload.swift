import HesperModel
import HesperStore
import NIOCore
import NIOHTTP1

/// A multipart upload. The object does not exist until the upload has been completed.
struct S3Upload: Sendable {
    let client: S3Client
    let key: String
    let id: String

    /// The timeout of the requests that upload a part or combine the parts. It is long, because the connection may be slow.
    private static let deadline = TimeAmount.minutes(10)

    static func begin(_ key: String, by client: S3Client) async throws -> S3Upload {
        let response = try await client.receive(
            S3Request(.POST, key, query: [("uploads", "")], headers: ["Content-Type": S3Object.type]))
        guard let id = response.xml?["UploadId"], !id.isEmpty else {
            throw StoreError.failed("S3: the response to CreateMultipartUpload of \(key) has no UploadId")
        }
        return S3Upload(client: client, key: key, id: id)
    }

    /// Uploads a part of the object.
    /// - Parameter number: the number of the part, starting at 1.
    /// - Returns: the part's ETag.
    func send(_ part: ByteBuffer, number: Int) async throws -> String {
        let response = try await client.receive(
            S3Request(.PUT, key, query: [("partNumber", "\(number)"), ("uploadId", id)], body: part),
            within: S3Upload.deadline)
        guard let tag = response.headers.first(name: "ETag") else {
            throw StoreError.failed("S3: the response to part \(number) of \(key) has no ETag")
        }
        return tag
    }

    /// Combines the parts into the object. If this function throws, the object may exist nevertheless.
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
            // If the upload no longer exists, an earlier attempt may have completed it, but the response to that attempt was lost.
            // In that case the object has the expected size.
            guard try await S3Object(client: client, key: key).byteCount() == byteCount else { throw failure }
        }
    }

    /// Discards the upload and its parts. Does nothing if the upload does not exist.
    func abort() async throws {
        do {
            _ = try await client.receive(S3Request(.DELETE, key, query: [("uploadId", id)]))
        } catch let failure as S3Failure where failure.status == .notFound {}
    }
}
