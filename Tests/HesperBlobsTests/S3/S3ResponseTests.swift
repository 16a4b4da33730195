import Foundation
import HesperModel
import HesperStore
import NIOCore
import StoreContract
import Testing

@testable import HesperBlobs

/// Responses that SeaweedFS does not produce.
@Suite("Responses of S3") struct S3ResponseTests {
    typealias Response = ScriptedServer.Response

    private static let created = Response(
        status: "200 OK", body: "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>")
    private static let part = Response(status: "200 OK", headers: ["ETag: \"x\""])
    private let name = BlobStoreContract.Subject.name()

    private func blobs(_ server: ScriptedServer) throws -> S3Blobs {
        S3Blobs(
            try S3Location(
                "s3://bucket/x",
                environment: [
                    "AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "SK",
                    "AWS_ENDPOINT_URL": "http://127.0.0.1:\(server.port)",
                ]))
    }

    @Test(arguments: [
        "500 Internal Server Error", "502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout",
        "429 Too Many Requests",
    ]) func retriesAfterTransientErrors(_ status: String) async throws {
        let server = try ScriptedServer([
            Response(status: status), .error(status, "SlowDown"), Response(status: "200 OK", headers: ["ETag: \"x\""]),
        ])
        let data = try await blobs(server).write(name, BlobSample(7).pieces()) { _ in }
        #expect(data == BlobSample(7).data)
        #expect(server.requests.count == 3)
        #expect(server.requests.allSatisfy { $0 == "PUT /bucket/x/\(name.path) HTTP/1.1" })
    }

    @Test func makesAtMostFiveAttempts() async throws {
        let server = try ScriptedServer([.error("503 Slow Down", "SlowDown")])
        let error = await #expect(throws: StoreError.self) { _ = try await blobs(server).byteCount(of: name) }
        // A response to HEAD has no body, so there is no error code.
        #expect(error == .unavailable("S3: HEAD http://127.0.0.1:\(server.port)/bucket/x/\(name.path): 503"))
        #expect(server.requests.count == 5)
    }

    @Test(arguments: [
        ("507 Insufficient Storage", "InsufficientStorage"), ("400 Bad Request", "XMinioAdminBucketQuotaExceeded"),
        ("507 Insufficient Storage", "XMinioStorageFull"), ("403 Forbidden", "QuotaExceeded"),
    ]) func reportsFullStorage(_ status: String, _ code: String) async throws {
        let server = try ScriptedServer([.error(status, code)])
        let error = await #expect(throws: StoreError.self) {
            _ = try await blobs(server).write(name, BlobSample(7).pieces()) { _ in }
        }
        guard case .full(let text)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.contains(code))
        // There is one PUT. The other request removes a possible object.
        #expect(server.requests.count { $0.hasPrefix("PUT") } == 1)
    }

    @Test(arguments: [("400 Bad Request", "MalformedXML"), ("501 Not Implemented", "NotImplemented")])
    func clientErrorIsNotAnOutage(_ status: String, _ code: String) async throws {
        let server = try ScriptedServer([.error(status, code)])
        let error = await #expect(throws: StoreError.self) { try await blobs(server).remove(name) }
        guard case .failed? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(server.requests.count == 1)
    }

    /// A completion whose response was lost may have succeeded.
    @Test(arguments: [(8 << 20) + 1, 5, nil]) func lostResponseIsResolvedByTheObject(_ byteCount: Int?) async throws {
        let lost = Response.error("404 Not Found", "NoSuchUpload")
        let head = byteCount.map { Response(status: "200 OK", byteCount: $0) } ?? Response(status: "404 Not Found")
        let server = try ScriptedServer([
            S3ResponseTests.created, S3ResponseTests.part, S3ResponseTests.part,
            .error("500 Internal Server Error", "InternalError"), lost, head,
            Response(status: "204 No Content"),
        ])
        let blobs = try blobs(server)
        let sample = BlobSample((8 << 20) + 1)
        if byteCount == Int(sample.byteCount) {
            #expect(try await blobs.write(name, sample.pieces()) { _ in } == sample.data)
            #expect(server.requests.last?.hasPrefix("HEAD") == true)
        } else {
            await #expect(throws: StoreError.self) { _ = try await blobs.write(name, sample.pieces()) { _ in } }
            // The upload and a possible object are removed.
            #expect(server.requests.suffix(2).allSatisfy { $0.hasPrefix("DELETE") }, "\(server.requests)")
        }
    }

    @Test func errorWithStatus200IsDetected() async throws {
        let server = try ScriptedServer([
            S3ResponseTests.created, S3ResponseTests.part, S3ResponseTests.part, .error("200 OK", "InternalError"),
            Response(status: "200 OK"),
        ])
        _ = try await blobs(server).write(name, BlobSample((8 << 20) + 1).pieces()) { _ in }
        #expect(server.requests.count { $0.contains("?uploadId=u ") } == 2)
    }

    @Test(arguments: [
        // The range is ignored; another range; more bytes than requested, which are not even read.
        Response(status: "200 OK", body: "abcd"),
        Response(status: "206 Partial Content", headers: ["Content-Range: bytes 0-3/4"], body: "abcd"),
        Response(status: "206 Partial Content", body: "bc"),
        .error("416 Range Not Satisfiable", "InvalidRange"),
    ]) func responsesWithOtherBytesAreRefused(_ response: Response) async throws {
        let server = try ScriptedServer([response])
        let error = await #expect(throws: StoreError.self) { _ = try await blobs(server).read(name, 1..<3) }
        guard case .damaged? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [
        Response(status: "200 OK", body: "<html>"), Response(status: "200 OK"),
        Response(status: "200 OK", body: "<ListBucketResult><Contents><Key>x/1</Key></Contents></ListBucketResult>"),
        Response(
            status: "200 OK",
            body: """
                <ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>\
                </ListBucketResult>
                """),
    ]) func invalidListingIsNotTreatedAsEmpty(_ response: Response) async throws {
        let server = try ScriptedServer([response])
        await #expect(throws: StoreError.self) { try await blobs(server).entries { _ in } }
        #expect(server.requests.count <= 2)
    }

    @Test(arguments: [
        ("301 Moved Permanently", "PermanentRedirect", "AWS_REGION"),
        ("400 Bad Request", "AuthorizationHeaderMalformed", "AWS_REGION"),
        ("400 Bad Request", "ExpiredToken", "AWS_SESSION_TOKEN"),
        ("403 Forbidden", "AccessDenied", "AWS_ACCESS_KEY_ID"),
        ("403 Forbidden", "AccountProblem", "AWS_ACCESS_KEY_ID"),
        ("404 Not Found", "NoSuchBucket", "HESPER_ATTACHMENTS"),
        ("404 Not Found", "", "AWS_ENDPOINT_URL_S3"), ("405 Method Not Allowed", "", "AWS_ENDPOINT_URL_S3"),
        ("200 OK", "", "AWS_ENDPOINT_URL_S3"),
    ]) func reportsTheSettingToCorrect(_ status: String, _ code: String, _ variable: String) async throws {
        let server = try ScriptedServer([
            code.isEmpty ? Response(status: status, body: "<html>Hello</html>") : .error(status, code)
        ])
        let error = await #expect(throws: S3LocationError.self) { try await blobs(server).check() }
        #expect(error?.variable == variable, "\(error?.description ?? "")")
    }

    @Test func wrongClockIsNotASettingError() async throws {
        let server = try ScriptedServer([.error("403 Forbidden", "RequestTimeTooSkewed")])
        let error = await #expect(throws: StoreError.self) { try await blobs(server).check() }
        #expect(error?.description.contains("403 RequestTimeTooSkewed") == true)
    }

    @Test func badRequestWithoutCodeMayBeAnExpiredToken() async throws {
        let server = try ScriptedServer([Response(status: "400 Bad Request")])
        let error = await #expect(throws: StoreError.self) { _ = try await blobs(server).byteCount(of: name) }
        #expect(error == .unavailable("S3: HEAD http://127.0.0.1:\(server.port)/bucket/x/\(name.path): 400"))
    }

    @Test func actualRegionIsReported() async throws {
        let server = try ScriptedServer([
            Response(
                status: "301 Moved Permanently",
                headers: ["x-amz-bucket-region: eu-west-3", "Location: http://127.0.0.1:1/"])
        ])
        let error = await #expect(throws: S3LocationError.self) { try await blobs(server).check() }
        #expect(error?.description == "AWS_REGION is us-east-1; the bucket is in eu-west-3")
    }
}
