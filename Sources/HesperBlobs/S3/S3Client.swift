import AsyncHTTPClient
import Foundation
import HesperModel
import HesperStore
import NIOCore
import NIOHTTP1

/// Sends requests to a bucket, signed, and again if that may help. Its connections end when nobody has it any more.
final class S3Client: Sendable {
    let location: S3Location
    private let http: HTTPClient
    private let signer: S3Signer

    private static let attempts = 5
    /// Milliseconds to wait for before the second attempt, at most; doubled for each further one.
    private static let firstDelay = 100.0
    /// What an answer that is read whole may have: a page of a listing has a few hundred kilobytes.
    private static let answerLimit = 8 << 20

    init(_ location: S3Location) {
        self.location = location
        signer = S3Signer(credentials: location.credentials, region: location.region)
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(5), read: .seconds(60), write: .seconds(60)))
        configuration.httpVersion = .http1Only
        // Each download holds one, for as long as its reader takes.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1_000
        // Attempts are counted and spread here.
        configuration.connectionPool.retryConnectionEstablishment = false
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit { http.shutdown(queue: .global()) { _ in } }

    /// Sends a request that may be sent twice, until there is an answer that says yes.
    /// - Parameter deadline: how long its head may be waited for, the body on its way there included.
    /// - Throws: ``S3Failure`` if S3 says no; ``StoreError`` if there is no answer.
    func send(_ request: S3Request, within deadline: TimeAmount = .seconds(60)) async throws -> HTTPClientResponse {
        try await retrying { try await self.attempt(request, deadline) }
    }

    /// The same for an answer that is small, and read.
    func receive(_ request: S3Request, within deadline: TimeAmount = .seconds(60)) async throws -> S3Answer {
        try await retrying {
            let response = try await self.attempt(request, deadline)
            let body = try await self.reaching(request) {
                try await response.body.collect(upTo: S3Client.answerLimit)
            }
            let answer = S3Answer(headers: response.headers, body: body, xml: S3XML(reading: String(buffer: body)))
            // Some calls take long, so that S3 begins to answer before it knows how they end.
            if let error = answer.xml, error.name == "Error" {
                throw S3Failure(what: self.name(of: request), status: .internalServerError, code: error["Code"])
            }
            return answer
        }
    }

    /// Does something until it goes well, or fails for good.
    func retrying<T>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> T
    ) async throws -> T {
        var attempt = 1
        while true {
            do {
                try Task.checkCancellation()
                return try await body()
            } catch {
                // The library's own word for it is another.
                try Task.checkCancellation()
                guard attempt < S3Client.attempts, S3Client.mayPass(error) else { throw error }
                let delay = Double.random(in: 0...S3Client.firstDelay * Double(1 << attempt))
                try await Task.sleep(for: .milliseconds(delay))
                attempt += 1
            }
        }
    }

    static func mayPass(_ error: any Error) -> Bool {
        switch error {
        case let failure as S3Failure: failure.mayPass
        case StoreError.unavailable: true
        default: false
        }
    }

    private func attempt(_ request: S3Request, _ deadline: TimeAmount) async throws -> HTTPClientResponse {
        let response = try await reaching(request) { try await http.execute(signed(request), timeout: deadline) }
        guard !(200..<300).contains(response.status.code) else { return response }
        // An answer that says no and is no XML says so by its status.
        let body = try? await response.body.collect(upTo: S3Client.answerLimit)
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

    /// Gives errors of the connection, whatever they are, as a store that is away.
    func reaching<T>(
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

/// An answer that has been read.
struct S3Answer: Sendable {
    let headers: HTTPHeaders
    let body: ByteBuffer
    /// Nil if it is none, or empty.
    let xml: S3XML?
}
