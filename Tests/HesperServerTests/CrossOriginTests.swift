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
    ]) func loopbackOrigins(_ origin: String, isAllowed: Bool) async throws {
        try await TestServer.test { client in
            for path in ["/healthz", "/v1/nothing"] {
                let response = try await client.send(.get, path, headers: [.origin: origin])
                #expect(response.headers[.accessControlAllowOrigin] == (isAllowed ? origin : nil))
                #expect(response.headers[.accessControlAllowCredentials] == nil)
                let exposed = response.headers[.accessControlExposeHeaders]
                #expect((exposed != nil) == isAllowed)
                if let exposed { #expect(exposed.hasPrefix("ETag, Location, Content-Location, Retry-After,")) }
            }
        }
    }

    @Test(arguments: [
        ("https://notes.example.org", true), ("https://notes.example.org:8443", false), ("http://localhost:80", false),
    ]) func configuredOrigins(_ origin: String, isAllowed: Bool) {
        let crossOrigin = CrossOrigin(origins: ["https://notes.example.org"], allowsLoopback: false)
        #expect(crossOrigin.allows(origin) == isAllowed)
    }

    @Test func preflight() async throws {
        try await TestServer.test { client in
            let headers: HTTPFields = [
                .origin: "http://localhost:3000", .accessControlRequestMethod: "PATCH",
                .accessControlRequestHeaders: "authorization,content-type",
            ]
            let response = try await client.send(.options, "/v1/account", headers: headers)
            #expect(response.status == 204)
            #expect(response.headers[.accessControlAllowOrigin] == "http://localhost:3000")
            #expect(response.headers[.accessControlAllowMethods] == "GET, HEAD, PATCH, DELETE, OPTIONS")
            #expect(response.headers[.accessControlAllowHeaders]?.contains("Authorization") == true)
            #expect(response.headers[.accessControlMaxAge] == "7200")
        }
    }

    @Test func preflightOfAnotherOriginIsNotAllowed() async throws {
        try await TestServer.test { client in
            let headers: HTTPFields = [.origin: "http://evil.example", .accessControlRequestMethod: "DELETE"]
            let response = try await client.send(.options, "/v1/account", headers: headers)
            #expect(response.status == 204)
            #expect(response.headers[.accessControlAllowOrigin] == nil)
            #expect(response.headers[.accessControlAllowMethods] == nil)
        }
    }
}
