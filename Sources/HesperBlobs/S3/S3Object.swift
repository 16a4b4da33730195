import AsyncHTTPClient
import HesperModel
import HesperStore
import NIOCore
import NIOHTTP1

/// A key in the bucket, and the object with this key, which may not exist.
struct S3Object: Sendable {
    let client: S3Client
    let key: String

    /// The content type of all objects. The actual types of attachments are stored in the database.
    static let type = "application/octet-stream"
    private static let deadline = TimeAmount.minutes(10)

    /// Writes the whole object. The object becomes visible only when all bytes have been written.
    func put(_ bytes: ByteBuffer) async throws {
        _ = try await client.receive(
            S3Request(.PUT, key, headers: ["Content-Type": S3Object.type], body: bytes), within: S3Object.deadline)
    }

    /// The size of the object in bytes.
    /// - Returns: nil if the object does not exist.
    func byteCount() async throws -> Int64? {
        do {
            let response = try await client.send(S3Request(.HEAD, key))
            guard let count = response.headers.first(name: "Content-Length").flatMap({ Int64($0) }) else {
                throw StoreError.failed("S3: the response to HEAD \(key) has no Content-Length")
            }
            return count
        } catch let failure as S3Failure where failure.isMissing {
            return nil
        }
    }

    /// Reads a small object; nil if the object does not exist.
    func contents() async throws -> ByteBuffer? {
        do {
            return try await client.receive(S3Request(.GET, key)).body
        } catch let failure as S3Failure where failure.isMissing {
            return nil
        }
    }

    /// Requests a range of the object. The response contains exactly this range.
    func get(_ range: Range<Int64>) async throws -> HTTPClientResponse {
        let bytes = "\(range.lowerBound)-\(range.upperBound - 1)"
        let response = try await client.send(S3Request(.GET, key, headers: ["Range": "bytes=\(bytes)"]))
        guard response.status == .partialContent,
            response.headers.first(name: "Content-Range")?.hasPrefix("bytes \(bytes)/") == true
        else { throw StoreError.damaged("S3: the response to GET \(key) does not contain bytes \(bytes)") }
        return response
    }

    /// Removes the object. Does nothing if the object does not exist.
    func remove() async throws {
        do {
            _ = try await client.receive(S3Request(.DELETE, key))
        } catch let failure as S3Failure where failure.isMissing {}
    }
}
