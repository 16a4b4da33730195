import AsyncHTTPClient
import Foundation
import HesperModel
import HesperStore
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Sends messages to the receivers of webhooks. The receiver's name is resolved once, all of its addresses are checked, and the
/// connection is made to one of these addresses. A name that resolves to another address after the check cannot evade the check.
struct WebhookSender: Sendable {
    /// The limits on a request.
    struct Limits: Sendable {
        /// The time from the look-up of the name to the end of the response, in seconds.
        var seconds = 10
        /// The time in which a connection must be established, in seconds.
        var connectSeconds = 5
        /// The number of bytes of the response's body that are read.
        var responseBytes = 64 << 10
        /// The number of a host's addresses that are tried.
        var addresses = 3
    }

    let network: WebhookNetwork
    let version: String
    /// Returns the addresses of a host name. Tests replace this function, so that names resolve to any address.
    var resolve: @Sendable (String) async throws -> [IPAddress] = HostResolver.addresses
    var limits = Limits()

    /// The result of a request.
    struct Outcome: Sendable, Equatable {
        /// The status of the response; nil if there was none.
        var status: Int?
        /// Why the request failed; nil if the status is 2xx.
        var error: String?
    }

    /// Sends a message once. It does not throw, because every error is an outcome that the log of the webhook shows.
    func send(_ message: WebhookMessage, to url: String, secret: [UInt8], at date: Timestamp) async -> Outcome {
        do {
            let status = try await status(message, try WebhookURL(url), secret, date)
            switch status {
            case 200..<300: return Outcome(status: status)
            case 300..<400:
                return Outcome(status: status, error: "The receiver responded with a redirect, which is not followed.")
            default: return Outcome(status: status, error: "The receiver responded with status \(status).")
            }
        } catch let error as WebhookURL.Invalid {
            return Outcome(error: "The URL \(error.reason).")
        } catch {
            return Outcome(error: WebhookFailure.describe(error))
        }
    }

    private func status(
        _ message: WebhookMessage, _ url: WebhookURL, _ secret: [UInt8], _ date: Timestamp
    ) async throws -> Int {
        let deadline = ContinuousClock.now + .seconds(limits.seconds)
        let addresses: [IPAddress]
        if let address = url.address {
            addresses = [address]
        } else {
            let resolve = resolve
            addresses = try await within(deadline) { try await resolve(url.host) }
        }
        // No request is sent if any address of a name is not permitted. An attacker may have registered the name in order to reach
        // that address.
        guard !addresses.isEmpty else { throw WebhookFailure.unresolved }
        guard addresses.allSatisfy({ network.permits($0, isEncrypted: url.isEncrypted) }) else {
            throw WebhookFailure.refusedAddress(isEncrypted: url.isEncrypted)
        }
        var request = HTTPClientRequest(url: url.text)
        request.method = .POST
        for (name, value) in message.headers(secret: secret, at: date) { request.headers.add(name: name, value: value) }
        request.headers.add(name: "user-agent", value: "Hesper/\(version)")
        request.body = .bytes(message.body)
        var failure: (any Error)?
        for address in addresses.prefix(limits.addresses) {
            do {
                return try await self.status(request, host: url.host, at: address, until: deadline)
            } catch  where WebhookFailure.isOfConnecting(error) {
                failure = error
            }
        }
        throw failure ?? WebhookFailure.timeout(seconds: limits.seconds)
    }

    /// Sends a request to one address and returns the status of the response.
    private func status(
        _ request: HTTPClientRequest, host: String, at address: IPAddress, until deadline: ContinuousClock.Instant
    ) async throws -> Int {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(Int64(limits.connectSeconds))))
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        // The TLS handshake and the `Host` header still use the name.
        configuration.dnsOverride = [host: address.text]
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<Int, any Error>
        do {
            let response = try await within(deadline) {
                try await client.execute(request, deadline: .distantFuture)
            }
            result = .success(Int(response.status.code))
            // The status is the result. The body is read and discarded, so that the receiver can finish sending it.
            let limit = limits.responseBytes
            try? await within(deadline) {
                var count = 0
                for try await part in response.body {
                    count += part.readableBytes
                    if count >= limit { break }
                }
            }
        } catch {
            result = .failure(error)
        }
        try? await client.shutdown()
        return try result.get()
    }

    /// Runs `body`, and cancels it at the deadline.
    /// - Throws: the errors of `body`, or ``WebhookFailure/timeout(seconds:)`` if the deadline passes first.
    private func within<T: Sendable>(
        _ deadline: ContinuousClock.Instant, _ body: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        let seconds = limits.seconds
        return try await withThrowingTaskGroup(of: T.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(until: deadline, clock: .continuous)
                throw WebhookFailure.timeout(seconds: seconds)
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw CancellationError() }
            return result
        }
    }
}

/// A reason why a request to a receiver failed, as the log of the webhook shows it.
enum WebhookFailure: Error, Equatable {
    case unresolved
    case refusedAddress(isEncrypted: Bool)
    case timeout(seconds: Int)

    var description: String {
        switch self {
        case .unresolved: "The host name could not be resolved."
        case .refusedAddress(isEncrypted: true):
            "The host has an address in a private or special network, which the operator of the server has not allowed."
        case .refusedAddress(isEncrypted: false):
            "Requests over plain HTTP are sent only to networks that the operator of the server has allowed. Use https."
        case .timeout(let seconds): "The receiver did not respond within \(seconds) s."
        }
    }

    /// The maximum length of a description, in characters.
    private static let maximumLength = 300

    /// A sentence about an error, for the owner of the webhook.
    static func describe(_ error: any Error) -> String {
        switch error {
        case let failure as WebhookFailure: failure.description
        case is CancellationError: "The server was stopped during the request."
        case let error as HTTPClientError where error == .connectTimeout:
            "The receiver did not accept the connection in time."
        case let error as HTTPClientError where error == .remoteConnectionClosed:
            "The receiver closed the connection without a response."
        case let error as IOError where error.errnoCode == ECONNREFUSED: "The receiver refused the connection."
        case let error as NIOSSLError: String("The TLS connection failed: \(error)".prefix(maximumLength))
        default: String("The request failed: \(error)".prefix(maximumLength))
        }
    }

    /// Whether an error means that no connection was established, so that another address can be tried.
    static func isOfConnecting(_ error: any Error) -> Bool {
        if error as? HTTPClientError == .connectTimeout { return true }
        guard let error = error as? IOError else { return false }
        return [ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL, ETIMEDOUT].contains(error.errnoCode)
    }
}
