import HTTPTypes
import HummingbirdTesting
import Testing

@testable import HesperServer

/// protocol.md, HTTP rules and Errors.
@Suite struct HTTPSemanticsTests {
    static let rows = [
        Row("an unknown path", .get, "/v1/nothing", status: 404, contains: ["not-found", "/docs"]),
        Row("an unknown path and an unknown method", .init("BREW") ?? .get, "/v1/nothing", status: 404),
        Row("a path with a trailing slash", .get, "/v1/server/", status: 404),
        Row("an empty ID in a path", .get, "/v1/notes/", status: 404),
        Row(
            "a method that is not allowed", .delete, "/v1/server", status: 405,
            contains: ["method-not-allowed", "GET, HEAD, OPTIONS"]),
        Row("TRACE", .trace, "/v1/account", status: 405, contains: ["GET, HEAD, PATCH, DELETE, OPTIONS"]),
        Row("the method is checked before the token", .put, "/v1/account", status: 405),
        Row("no token", .get, "/v1/account", status: 401, contains: ["unauthenticated", "Bearer"]),
        Row("the token is checked before the parameters", .get, "/v1/account?x=1", status: 401, lacks: ["\"x\""]),
        Row(
            "an unknown parameter", .get, "/v1/server?colour=red", status: 422,
            contains: [#""pointer":"colour""#]),
        Row("an invalid escape", .get, "/v1/server?%zz=1", status: 400, contains: ["malformed-request"]),
        Row("an escape that is not UTF-8", .get, "/v1/server?%ff=1", status: 400, contains: ["malformed-request"]),
        Row("health", .get, "/healthz", status: 200, contains: [#"{"status":"ok"}"#]),
        Row("readiness", .get, "/readyz", status: 200, contains: [#"{"status":"ready"}"#]),
        Row("the server", .get, "/v1/server", status: 200, contains: [#""signUp":"open""#, #""textBytes":1048576"#]),
    ]

    @Test(arguments: rows) func responses(_ row: Row) async throws {
        try await TestServer.test { try await row.check($0) }
    }

    @Test func headHasTheHeadersOfGetWithoutTheBody() async throws {
        try await TestServer.test { client in
            let client = try await client.signedUp()
            for path in ["/v1/account", "/v1/changes", "/healthz", "/problems/deleted"] {
                let get = try await client.send(.get, path)
                let head = try await client.send(.head, path)
                #expect(get.status == 200 && head.status == 200, "\(path)")
                #expect(head.text.isEmpty)
                #expect(head.headers[.contentLength] == String(get.text.utf8.count), "\(path)")
                #expect(head.headers[.contentType] == get.headers[.contentType])
                #expect(head.headers[.cacheControl] == get.headers[.cacheControl])
            }
            #expect(try await client.send(.head, "/v1/nothing").text.isEmpty)
            #expect(try await client.send(.head, "/v1/sync").status == 405)
        }
    }

    @Test func methodNotAllowedAndOptionsListTheMethods() async throws {
        try await TestServer.test { client in
            let refused = try await client.send(.delete, "/v1/devices")
            #expect(refused.headers[.allow] == "GET, HEAD, POST, OPTIONS")
            let options = try await client.send(.options, "/v1/devices/0123456789abcdef")
            #expect(options.status == 204)
            #expect(options.headers[.allow] == "PATCH, DELETE, OPTIONS")
        }
    }

    @Test(arguments: [
        ("phone-1.a_Z", true), (String(repeating: "a", count: 128), true), (String(repeating: "a", count: 129), false),
        ("a b", false), ("a\"b", false), ("é", false), ("", false),
    ]) func requestID(_ id: String, isAccepted: Bool) async throws {
        try await TestServer.test { client in
            let response = try await client.send(.get, "/v1/nothing", headers: [.requestID: id])
            let received = try #require(response.headers[.requestID])
            #expect((received == id) == isAccepted)
            #expect(!received.isEmpty)
            #expect(try response.json.member("requestID").string == received)
        }
    }

    @Test func everyRequestHasADifferentID() async throws {
        try await TestServer.test { client in
            let first = try await client.send(.get, "/healthz").headers[.requestID]
            let second = try await client.send(.get, "/healthz").headers[.requestID]
            #expect(first != second)
        }
    }

    @Test func responsesHaveCacheControl() async throws {
        try await TestServer.test { client in
            let client = try await client.signedUp()
            let account = try await client.send(.get, "/v1/account")
            #expect(account.headers[.cacheControl] == "private, no-cache")
            #expect(account.headers[.vary] == "Authorization, Cookie, Origin, Accept-Encoding")
            #expect(account.headers[.xContentTypeOptions] == "nosniff")
            let signIn = try await client.send(
                .post, "/v1/devices",
                #"{"email":"ada@example.org","password":"\#(TestClient.password)","deviceName":"tablet"}"#)
            #expect(signIn.headers[.cacheControl] == "no-store")
            #expect(try await client.send(.get, "/problems/deleted").headers[.cacheControl] == "no-cache")
        }
    }

    @Test func responsesOfALiveServerHaveADate() async throws {
        try await TestServer.test(.live) { client in
            let response = try await client.send(.get, "/healthz")
            #expect(response.headers[.date] != nil)
        }
    }
}
