import AsyncHTTPClient
import Foundation
import HesperModel
import HesperStore
import NIOCore
import NIOHTTP1

/// Sends signed requests to a bucket and retries them after transient errors. The connections are closed on deinitialization.
final class S3Client: Sendable {
    let location: S3Location
    private let http: HTTPClient
    private let signer: S3Signer

    private static let attempts = 5
    /// The base of the back-off in milliseconds. The delay after the nth attempt is random, between zero and 2^n times this
    /// value.
    private static let baseDelay = 100.0
    /// The maximum size, in bytes, of a response body that is collected in memory. A page of a listing has a few hundred
    /// kilobytes.
    private static let responseLimit = 8 << 20

    init(_ location: S3Location) {
        self.location = location
        signer = S3Signer(credentials: location.credentials, region: location.region)
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(5), read: .seconds(60), write: .seconds(60)))
        configuration.httpVersion = .http1Only
        // The maximum number of connections is high, because each download occupies a connection until its reader has read all
        // bytes or has stopped reading.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1_000
        // The HTTP library must not retry, because this client has its own retries and back-off.
        configuration.connectionPool.retryConnectionEstablishment = false
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit { http.shutdown(queue: .global()) { _ in } }

    /// Sends an idempotent request, with retries, until the response indicates success.
    /// - Parameter deadline: the maximum time from the start of an attempt until the head of the response has arrived. It includes
    ///   the upload of the request body.
    /// - Throws: ``S3Failure`` if S3 responds with an error, or ``StoreError`` if there is no response.
    func send(_ request: S3Request, within deadline: TimeAmount = .seconds(60)) async throws -> HTTPClientResponse {
        try await retrying { try await self.attempt(request, deadline) }
    }

    /// Sends a request as ``send(_:within:)`` does, and collects the response body, which must be small.
    func receive(_ request: S3Request, within deadline: TimeAmount = .seconds(60)) async throws -> S3Response {
        try await retrying {
            let response = try await self.attempt(request, deadline)
            let body = try await self.convertingConnectionErrors(request) {
                try await response.body.collect(upTo: S3Client.responseLimit)
            }
            let collected = S3Response(headers: response.headers, body: body, xml: S3XML(reading: String(buffer: body)))
            // For operations that take long, S3 sends a successful status before the operation is complete. If the operation then
            // fails, the error is in the body.
            if let error = collected.xml, error.name == "Error" {
                throw S3Failure(what: self.name(of: request), status: .internalServerError, code: error["Code"])
            }
            return collected
        }
    }

    /// Runs `body` with back-off until it succeeds, until it fails with a permanent error, or until the maximum number of
    /// attempts is reached.
    func retrying<T>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> T
    ) async throws -> T {
        var attempt = 1
        while true {
            do {
                try Task.checkCancellation()
                return try await body()
            } catch {
                // If the task was cancelled, throw `CancellationError` instead of the error of the HTTP library.
                try Task.checkCancellation()
                guard attempt < S3Client.attempts, S3Client.isTransient(error) else { throw error }
                let delay = Double.random(in: 0...S3Client.baseDelay * Double(1 << attempt))
                try await Task.sleep(for: .milliseconds(delay))
                attempt += 1
            }
        }
    }

    static func isTransient(_ error: any Error) -> Bool {
        switch error {
        case let failure as S3Failure: failure.isTransient
        case StoreError.unavailable: true
        default: false
        }
    }

    private func attempt(_ request: S3Request, _ deadline: TimeAmount) async throws -> HTTPClientResponse {
        let response = try await convertingConnectionErrors(request) {
            try await http.execute(signed(request), timeout: deadline)
        }
        guard !(200..<300).contains(response.status.code) else { return response }
        // If the body of an error response is not XML, the failure contains only the status.
        let body = try? await response.body.collect(upTo: S3Client.responseLimit)
        let xml = body.flatMap { S3XML(reading: String(buffer: $0)) }
        throw S3Failure(
            what: name(of: request), status: response.status, code: xml?["Code"],
            region: xml?["Region"] ?? response.headers.first(name: "x-amz-bucket-region"))
    }

    private func signed(_ request: S3Request) -> HTTPClientRequest {
        let target = location.target(of: request)
        var signed = HTTPClientRequest(url: target.url)
        signed.method = request.method
        let now = Timestamp(clamping: Int64(Date().timeIntervalSince1970 * 1_000))
        signed.headers = signer.headers(request, host: target.host, path: target.path, at: now)
        signed.body = request.body.map { .bytes($0) }
        return signed
    }

    /// Converts connection errors to ``StoreError/unavailable(_:)``.
    func convertingConnectionErrors<T>(
        _ request: S3Request, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> T
    ) async throws -> T {
        do {
            return try await body()
        } catch let error as CancellationError {
            throw error
        } catch {
            throw StoreError.unavailable("S3: \(name(of: request)): \(error)")
        }
    }

    private func name(of request: S3Request) -> String {
        "\(request.method.rawValue) \(location.endpoint)/\(location.bucket)\(request.key.map { "/\($0)" } ?? "")"
    }
}

/// A response whose body has been collected.
struct S3Response: Sendable {
    let headers: HTTPHeaders
    let body: ByteBuffer
    /// The parsed body of the response; nil if the body is empty or not valid XML.
    let xml: S3XML?
}
