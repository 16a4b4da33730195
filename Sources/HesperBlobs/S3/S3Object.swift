import AsyncHTTPClient
import HesperModel
import HesperStore
import NIOCore
import NIOHTTP1

/// One object, there or not.
struct S3Object: Sendable {
    let client: S3Client
    let key: String

    /// Of every object: what they are is in the database.
    static let type = "application/octet-stream"
    private static let deadline = TimeAmount.minutes(10)

    /// Writes it whole: S3 shows nothing of it before it has everything.
    func put(_ bytes: ByteBuffer) async throws {
        _ = try await client.receive(
            S3Request(.PUT, key, headers: ["Content-Type": S3Object.type], body: bytes), within: S3Object.deadline)
    }

    /// - Returns: nil if there is no such object.
    func byteCount() async throws -> Int64? {
        do {
            let response = try await client.send(S3Request(.HEAD, key))
            guard let count = response.headers.first(name: "Content-Length").flatMap({ Int64($0) }) else {
                throw StoreError.failed("S3: the answer to HEAD \(key) has no Content-Length")
            }
            return count
        } catch let failure as S3Failure where failure.isMissing {
            return nil
        }
    }

    /// All of a small object; nil if there is none.
    func contents() async throws -> ByteBuffer? {
        do {
            return try await client.receive(S3Request(.GET, key)).body
        } catch let failure as S3Failure where failure.isMissing {
            return nil
        }
    }

    /// An answer that has a part of the bytes, and nothing else.
    func get(_ range: Range<Int64>) async throws -> HTTPClientResponse {
        let asked = "\(range.lowerBound)-\(range.upperBound - 1)"
        let response = try await client.send(S3Request(.GET, key, headers: ["Range": "bytes=\(asked)"]))
        guard response.status == .partialContent,
            response.headers.first(name: "Content-Range")?.hasPrefix("bytes \(asked)/") == true
        else { throw StoreError.damaged("S3: bytes \(asked) of \(key) are not what was answered") }
        return response
    }

    /// That there is none is as good.
    func remove() async throws {
        do {
            _ = try await client.receive(S3Request(.DELETE, key))
        } catch let failure as S3Failure where failure.isMissing {}
    }
}
