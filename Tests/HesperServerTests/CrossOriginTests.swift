import HTTPTypes
import Testing

@testable import HesperServer

/// protocol.md, HTTP rules: CORS.
@Suite struct CrossOriginTests {
    @Test(arguments: [
        ("http://localhost:5173", true), ("http://localhost", true), ("http://127.0.0.1:8081", true),
        ("https://localhost:5173", false), ("http://localhost.example.org", false), ("http://localhost:", true),
        ("http://localhost:80x", false), ("http://127.0.0.1.example.org:80", false), ("null", false),
        ("http://example.org", false),
    ]) func onLoopback(_ origin: String, isAllowed: Bool) async throws {
        try await TestServer.test { client in
            for path in ["/healthz", "/v1/nothing"] {
                let answer = try await client.send(.get, path, headers: [.origin: origin])
                #expect(answer.headers[.accessControlAllowOrigin] == (isAllowed ? origin : nil))
                #expect(answer.headers[.accessControlAllowCredentials] == nil)
                let exposed = answer.headers[.accessControlExposeHeaders]
                #expect((exposed != nil) == isAllowed)
                if let exposed { #expect(exposed.hasPrefix("ETag, Location, Content-Location, Retry-After,")) }
            }
        }
    }

    @Test(arguments: [
        ("https://notes.example.org", true), ("https://notes.example.org:8443", false), ("http://localhost:80", false),
    ]) func elsewhere(_ origin: String, isAllowed: Bool) {
        let crossOrigin = CrossOrigin(origins: ["https://notes.example.org"], allowsLoopback: false)
        #expect(crossOrigin.allows(origin) == isAllowed)
    }

    @Test func preflight() async throws {
        try await TestServer.test { client in
            let headers: HTTPFields = [
                .origin: "http://localhost:3000", .accessControlRequestMethod: "PATCH",
                .accessControlRequestHeaders: "authorization,content-type",
            ]
            let answer = try await client.send(.options, "/v1/account", headers: headers)
            #expect(answer.status == 204)
            #expect(answer.headers[.accessControlAllowOrigin] == "http://localhost:3000")
            #expect(answer.headers[.accessControlAllowMethods] == "GET, HEAD, PATCH, DELETE, OPTIONS")
            #expect(answer.headers[.accessControlAllowHeaders]?.contains("Authorization") == true)
            #expect(answer.headers[.accessControlMaxAge] == "7200")
        }
    }

    @Test func preflightOfAStrangerIsToldNothing() async throws {
        try await TestServer.test { client in
            let headers: HTTPFields = [.origin: "http://evil.example", .accessControlRequestMethod: "DELETE"]
            let answer = try await client.send(.options, "/v1/account", headers: headers)
            #expect(answer.status == 204)
            #expect(answer.headers[.accessControlAllowOrigin] == nil)
            #expect(answer.headers[.accessControlAllowMethods] == nil)
        }
    }
}
