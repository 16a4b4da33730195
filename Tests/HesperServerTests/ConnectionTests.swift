import Foundation
import HTTPTypes
import HesperModel
import HummingbirdTesting
import Logging
import NIOCore
import ServiceLifecycle
import Testing

@testable import HesperServer

/// Runs a server, and `body` on a thread of its own, because it blocks on sockets.
private func withServer(
    _ change: @escaping TestServer.Change = { _ in }, _ body: @escaping @Sendable (Int) throws -> Void
) async throws {
    try await TestServer.test(.live, change) { client in
        let port = client.port
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try body(port) }) }
        }
    }
}

/// Each test waits two seconds, until the server closes the connection. They run at the same time.
@Suite struct RefusedRequestTests {
    struct Refusal: Sendable, CustomTestStringConvertible {
        let name: String
        let request: String
        let status: String
        let slug: Problem.Slug
        var testDescription: String { name }
    }

    static let refusals = [
        Refusal(
            name: "a long path", request: "GET /\(String(repeating: "a", count: 9_000)) HTTP/1.1\r\nHost: x\r\n\r\n",
            status: "414 ", slug: .uriTooLong),
        Refusal(
            name: "one large header",
            request: "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: \(String(repeating: "a", count: 17_000))\r\n\r\n",
            status: "431 ", slug: .headersTooLarge),
        Refusal(
            name: "a huge header",
            request: "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: \(String(repeating: "a", count: 100_000))\r\n\r\n",
            status: "431 ", slug: .headersTooLarge),
        Refusal(
            name: "many headers",
            request: "GET /healthz HTTP/1.1\r\nHost: x\r\n"
                + (0..<200).map { "X-\($0): a\r\n" }.joined() + "\r\n", status: "431 ", slug: .headersTooLarge),
        Refusal(name: "not HTTP", request: "HELO example.org\r\n\r\n", status: "400 ", slug: .malformedRequest),
        Refusal(
            name: "an invalid header", request: "GET /healthz HTTP/1.1\r\nHost x\r\n\r\n", status: "400 ",
            slug: .malformedRequest),
        Refusal(
            name: "two Content-Length headers",
            request: "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
            status: "400 ", slug: .malformedRequest),
        Refusal(
            name: "no Host header", request: "GET /healthz HTTP/1.1\r\n\r\n", status: "400 ", slug: .malformedRequest),
        Refusal(
            name: "two Host headers", request: "GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", status: "400 ",
            slug: .malformedRequest),
        Refusal(
            name: "another coding with chunked",
            request: "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", status: "400 ",
            slug: .malformedRequest),
        Refusal(
            name: "an invalid chunk size",
            request: "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", status: "400 ", slug: .malformedRequest),
        Refusal(
            name: "a Content-Length that is too large",
            request: "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                + "Content-Length: 100000000\r\n\r\n", status: "413 ", slug: .tooLarge),
        Refusal(
            name: "a chunked body that is too large",
            request: "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\na000\r\n\(String(repeating: " ", count: 0xa000))\r\n",
            status: "413 ", slug: .tooLarge),
    ]

    /// The response has the reason, and the connection closes.
    @Test(arguments: refusals) func invalidRequestsAreRefused(_ refusal: Refusal) async throws {
        try await withServer { port in
            let connection = try RawConnection(port: port)
            connection.send(refusal.request)
            let response = connection.readToEnd()
            #expect(response.hasPrefix("HTTP/1.1 \(refusal.status)"), "\(response)")
            #expect(response.contains(#""slug":"\#(refusal.slug.rawValue)""#), "\(response)")
            #expect(response.lowercased().contains("\r\nconnection: close\r\n"))
            #expect(response.lowercased().contains("\r\nx-request-id: "))
            #expect(response.contains(#""requestID":""#))
        }
    }
}

/// Limits on headers, bodies, time and connections (protocol.md, HTTP rules).
@Suite(.serialized) struct ConnectionTests {
    @Test func aRefusalFollowsEarlierResponses() async throws {
        try await withServer { port in
            let connection = try RawConnection(port: port)
            connection.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n")
            let responses = connection.readToEnd()
            let health = try #require(responses.range(of: #"{"status":"ok"}"#))
            let refusal = try #require(responses.range(of: "HTTP/1.1 400"))
            #expect(health.upperBound <= refusal.lowerBound)
        }
    }

    @Test func aSlowBodyTimesOut() async throws {
        let change: TestServer.Change = { $0.connections.bodySeconds = 1 }
        try await withServer(change) { port in
            let connection = try RawConnection(port: port)
            connection.send(
                "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
            )
            let response = connection.readToEnd()
            #expect(response.hasPrefix("HTTP/1.1 408 "), "\(response)")
            #expect(response.contains("request-timeout"))
        }
    }

    @Test func aSlowHeadTimesOut() async throws {
        let change: TestServer.Change = { $0.connections.idleSeconds = 1 }
        try await withServer(change) { port in
            let connection = try RawConnection(port: port)
            connection.send("GET /healthz HTTP/1.1\r\nHost: ")
            #expect(connection.readToEnd().isEmpty)
        }
    }

    @Test func expectContinueGetsAnInterimResponse() async throws {
        try await withServer { port in
            let body = #"{"email":"ada@example.org","password":"12345678","deviceName":"phone"}"#
            let head = "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            let connection = try RawConnection(port: port)
            connection.send(head + "Content-Length: \(body.utf8.count)\r\nExpect: 100-continue\r\n\r\n")
            #expect(connection.read(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            connection.send(body)
            #expect(connection.read(until: "token").hasPrefix("HTTP/1.1 201 "))
            // No interim response if the body will be refused.
            let second = try RawConnection(port: port)
            second.send(head + "Content-Length: 100000000\r\nExpect: 100-continue\r\n\r\n")
            #expect(second.readToEnd().hasPrefix("HTTP/1.1 413 "))
        }
    }

    @Test func connectionsBeyondTheLimitWait() async throws {
        let change: TestServer.Change = { $0.connections.count = 2 }
        try await withServer(change) { port in
            // The test's own client has one connection.
            let first = try RawConnection(port: port)
            first.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(first.read(until: "ok").contains("200 OK"))
            let second = try RawConnection(port: port)
            second.send("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            first.send("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(first.readToEnd().contains("200 OK"))
            #expect(second.readToEnd().contains("200 OK"))
        }
    }

    /// Open connections remain open, and the permit of a closed one can be used again.
    @Test func connectionsPerAddressAreLimited() async throws {
        let change: TestServer.Change = {
            $0.connections.perAddress = 3
            $0.connections.countsLoopback = true
        }
        try await withServer(change) { port in
            // The test's own client may have one connection.
            var open: [RawConnection] = []
            var refusal: String?
            while refusal == nil, open.count < 4 {
                let next = try RawConnection(port: port)
                next.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                let response = next.read(until: "}")
                if response.hasPrefix("HTTP/1.1 200 ") { open.append(next) } else { refusal = response }
            }
            #expect((2...3).contains(open.count))
            let response = try #require(refusal)
            #expect(
                response.hasPrefix("HTTP/1.1 429 ") && response.lowercased().contains("retry-after: 10"), "\(response)")
            open[1].send("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(open[1].readToEnd().contains("200 OK"))
            open.removeLast()
            // The server notices the close after a moment.
            var again = ""
            for _ in 0..<100 where !again.contains("200 OK") {
                Thread.sleep(forTimeInterval: 0.05)
                let next = try RawConnection(port: port)
                next.send("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                again = next.readToEnd()
            }
            #expect(again.contains("200 OK"))
        }
    }

    @Test func connectionPermitsAreCountedByAddress() throws {
        var limits = ConnectionLimits()
        limits.perAddress = 2
        let permits = ConnectionPermits(limits: limits, proxies: [try #require(AddressRange("198.51.100.0/24"))])
        let proxy = ClientAddress(try SocketAddress(ipAddress: "198.51.100.7", port: 1))
        for _ in 0..<100 { #expect(permits.tryAcquire(proxy)) }
        let (one, other) = (
            ClientAddress(try SocketAddress(ipAddress: "192.0.2.7", port: 1)),
            ClientAddress(try SocketAddress(ipAddress: "2001:db8::1", port: 1))
        )
        #expect(permits.tryAcquire(one) && permits.tryAcquire(one) && !permits.tryAcquire(one))
        #expect(permits.tryAcquire(other))
        for _ in 0..<100 { #expect(permits.tryAcquire(ClientAddress(nil))) }
        permits.release(one)
        #expect(permits.tryAcquire(one) && !permits.tryAcquire(one))
        permits.release(one)
        permits.release(one)
        permits.release(other)
        #expect(permits.addressCount == 0)
    }

    @Test(arguments: [
        ("", String(repeating: "\r\n", count: 4_096)),
        (
            "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n1;", String(repeating: "a=b;", count: 2_048)
        ),
    ]) func endlessInputWithoutARequestIsCut(_ head: String, _ more: String) async throws {
        try await withServer { port in
            let connection = try RawConnection(port: port)
            connection.send(head)
            for _ in 0..<(2 * UnparsedByteLimit.maximumBytes / more.utf8.count) { connection.send(more) }
            #expect(connection.readToEnd().isEmpty)
        }
    }

    @Test func requestsPerAccountAreLimited() async throws {
        let change: TestServer.Change = { $0.requests = Rate(burst: 5, perMinute: 0.01) }
        try await TestServer.test(.router, change) { client in
            let phone = try await client.signedUp()
            let laptop = try await client.signedIn()
            let bob = try await client.signedUp("bob@example.org")
            for _ in 0..<3 { #expect(try await phone.send(.get, "/v1/account").status == 200) }
            for left in [1, 0] {
                let response = try await laptop.send(.get, "/v1/notes")
                #expect(response.status == 200)
                let field = try #require(response.headers[.rateLimit])
                #expect(field.hasPrefix("\"account\";r=\(left);t="), "\(field)")
                #expect(response.headers[.rateLimitPolicy] == "\"account\";q=5;w=30000")
            }
            for device in [phone, laptop] {
                let refused = try await device.send(.get, "/v1/account")
                #expect(try refused.slug == "too-many-requests")
                let seconds = try #require(refused.headers[.retryAfter].flatMap { Int($0) })
                #expect((1...6_000).contains(seconds))
                #expect(refused.headers[.rateLimit]?.hasPrefix("\"account\";r=0;t=") == true)
            }
            #expect(try await bob.send(.get, "/v1/account").status == 200)
        }
    }

    @Test func aBusyServerSendsRetryAfter() async throws {
        let change: TestServer.Change = { $0.busyRequests = 0 }
        try await TestServer.test(.router, change) { client in
            let phone = try await client.signedUp()
            #expect(try await phone.send(.post, "/v1/sync", "{}").headers[.retryAfter] == "2")
            // An error has a Retry-After of its own, if a retry makes sense.
            #expect(try await client.send(.get, "/v1/account").headers[.retryAfter] == nil)
        }
        try await TestServer.test { client in
            let phone = try await client.signedUp()
            #expect(try await phone.send(.post, "/v1/sync", "{}").headers[.retryAfter] == nil)
        }
    }

    @Test func headOfAStreamedBodyHasItsLength() async throws {
        try await TestServer.test(.live) { client in
            let client = try await client.signedUp()
            for path in ["/v1/changes", "/v1/notes"] {
                let get = try await client.send(.get, path)
                let head = try await client.send(.head, path)
                #expect(head.headers[.contentLength] == String(get.text.utf8.count))
                // The connection can still be used.
                #expect(try await client.send(.get, "/healthz").status == 200)
            }
        }
    }
}
