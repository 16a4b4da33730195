import Foundation
import HTTPTypes
import HesperModel
import HummingbirdTesting
import Logging
import ServiceLifecycle
import Testing

@testable import HesperServer

/// Limits on header, body, time and connections that a slow or hostile client cannot get past (protocol.md, HTTP manners).
@Suite(.serialized) struct ConnectionTests {
    /// Runs what blocks on a socket beside the threads of the tests.
    private static func talk(
        _ change: @escaping TestServer.Change = { _ in }, _ body: @escaping @Sendable (Int) throws -> Void
    ) async throws {
        try await TestServer.test(.live, change) { client in
            let port = client.port
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread { continuation.resume(with: Result { try body(port) }) }
            }
        }
    }

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
            name: "a header that is none", request: "GET /healthz HTTP/1.1\r\nHost x\r\n\r\n", status: "400 ",
            slug: .malformedRequest),
        Refusal(
            name: "two lengths",
            request: "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
            status: "400 ", slug: .malformedRequest),
        Refusal(name: "no Host", request: "GET /healthz HTTP/1.1\r\n\r\n", status: "400 ", slug: .malformedRequest),
        Refusal(
            name: "two Hosts", request: "GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", status: "400 ",
            slug: .malformedRequest),
        Refusal(
            name: "a coding beside chunks",
            request: "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", status: "400 ",
            slug: .malformedRequest),
        Refusal(
            name: "a chunk without a size",
            request: "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", status: "400 ", slug: .malformedRequest),
        Refusal(
            name: "a body too large, before it is sent",
            request: "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                + "Content-Length: 100000000\r\n\r\n", status: "413 ", slug: .tooLarge),
        Refusal(
            name: "a body too large, in chunks",
            request: "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\na000\r\n\(String(repeating: " ", count: 0xa000))\r\n",
            status: "413 ", slug: .tooLarge),
    ]

    /// Each is told why, and the connection closes.
    @Test(arguments: refusals) func refused(_ refusal: Refusal) async throws {
        try await ConnectionTests.talk { port in
            let connection = try RawConnection(port: port)
            connection.send(refusal.request)
            let answer = connection.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 \(refusal.status)"), "\(answer)")
            #expect(answer.contains(#""slug":"\#(refusal.slug.rawValue)""#), "\(answer)")
            #expect(answer.lowercased().contains("\r\nconnection: close\r\n"))
            #expect(answer.lowercased().contains("\r\nx-request-id: "))
            #expect(answer.contains(#""requestID":""#))
        }
    }

    @Test func aRefusalWaitsForTheAnswersBeforeIt() async throws {
        try await ConnectionTests.talk { port in
            let connection = try RawConnection(port: port)
            connection.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n")
            let answers = connection.readToEnd()
            let health = try #require(answers.range(of: #"{"status":"ok"}"#))
            let refusal = try #require(answers.range(of: "HTTP/1.1 400"))
            #expect(health.upperBound <= refusal.lowerBound)
        }
    }

    @Test func aSlowBodyIsGivenUp() async throws {
        let change: TestServer.Change = { $0.connections.bodySeconds = 1 }
        try await ConnectionTests.talk(change) { port in
            let connection = try RawConnection(port: port)
            connection.send(
                "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
            )
            let answer = connection.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 408 "), "\(answer)")
            #expect(answer.contains("request-timeout"))
        }
    }

    @Test func aSlowHeadIsGivenUp() async throws {
        let change: TestServer.Change = { $0.connections.idleSeconds = 1 }
        try await ConnectionTests.talk(change) { port in
            let connection = try RawConnection(port: port)
            connection.send("GET /healthz HTTP/1.1\r\nHost: ")
            #expect(connection.readToEnd().isEmpty)
        }
    }

    @Test func whoeverAsksWhetherToSendItsBodyIsTold() async throws {
        try await ConnectionTests.talk { port in
            let body = #"{"email":"ada@example.org","password":"12345678","deviceName":"phone"}"#
            let head = "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            let connection = try RawConnection(port: port)
            connection.send(head + "Content-Length: \(body.utf8.count)\r\nExpect: 100-continue\r\n\r\n")
            #expect(connection.read(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            connection.send(body)
            #expect(connection.read(until: "token").hasPrefix("HTTP/1.1 201 "))
            // And not asked for what is not wanted.
            let second = try RawConnection(port: port)
            second.send(head + "Content-Length: 100000000\r\nExpect: 100-continue\r\n\r\n")
            #expect(second.readToEnd().hasPrefix("HTTP/1.1 413 "))
        }
    }

    @Test func oneConnectionMoreThanAllowedWaits() async throws {
        let change: TestServer.Change = { $0.connections.count = 2 }
        try await ConnectionTests.talk(change) { port in
            // The test's own client holds one.
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

    @Test func headOfAStreamSaysItsLength() async throws {
        try await TestServer.test(.live) { client in
            let client = try await client.signedUp()
            for path in ["/v1/changes", "/v1/notes"] {
                let get = try await client.send(.get, path)
                let head = try await client.send(.head, path)
                #expect(head.headers[.contentLength] == String(get.text.utf8.count))
                // The connection is still good after it.
                #expect(try await client.send(.get, "/healthz").status == 200)
            }
        }
    }
}
