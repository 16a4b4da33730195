import HTTPTypes
import HummingbirdTesting
import Testing

@testable import HesperServer

/// protocol.md, HTTP rules and Errors.
@Suite struct MannersTests {
    static let rows = [
        Row("an unknown path", .get, "/v1/nothing", status: 404, contains: ["not-found", "/docs"]),
        Row("an unknown path, for a method nobody knows", .init("BREW") ?? .get, "/v1/nothing", status: 404),
        Row("a path with a slash too many", .get, "/v1/server/", status: 404),
        Row("an empty ID in a path", .get, "/v1/notes/", status: 404),
        Row(
            "a wrong method", .delete, "/v1/server", status: 405,
            contains: ["method-not-allowed", "GET, HEAD, OPTIONS"]),
        Row("TRACE", .trace, "/v1/account", status: 405, contains: ["GET, HEAD, PATCH, DELETE, OPTIONS"]),
        Row("a wrong method says so before it asks who it is", .put, "/v1/account", status: 405),
        Row("no token", .get, "/v1/account", status: 401, contains: ["unauthenticated", "Bearer"]),
        Row("no token, and a parameter that is not known", .get, "/v1/account?x=1", status: 401, lacks: ["\"x\""]),
        Row(
            "a parameter that is not known", .get, "/v1/server?colour=red", status: 422,
            contains: [#""pointer":"colour""#]),
        Row("an escape that is none", .get, "/v1/server?%zz=1", status: 400, contains: ["malformed-request"]),
        Row("an escape that is not UTF-8", .get, "/v1/server?%ff=1", status: 400, contains: ["malformed-request"]),
        Row("health", .get, "/healthz", status: 200, contains: [#"{"status":"ok"}"#]),
        Row("readiness", .get, "/readyz", status: 200, contains: [#"{"status":"ready"}"#]),
        Row("the server", .get, "/v1/server", status: 200, contains: [#""signUp":"open""#, #""textBytes":1048576"#]),
    ]

    @Test(arguments: rows) func row(_ row: Row) async throws {
        try await TestServer.test { try await row.check($0) }
    }

    @Test func headIsGetWithoutItsBody() async throws {
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
            #expect(options.headers[.allow] == "DELETE, OPTIONS")
        }
    }

    @Test(arguments: [
        ("phone-1.a_Z", true), (String(repeating: "a", count: 128), true), (String(repeating: "a", count: 129), false),
        ("a b", false), ("a\"b", false), ("é", false), ("", false),
    ]) func requestID(_ id: String, isTaken: Bool) async throws {
        try await TestServer.test { client in
            let answer = try await client.send(.get, "/v1/nothing", headers: [.requestID: id])
            let theirs = try #require(answer.headers[.requestID])
            #expect((theirs == id) == isTaken)
            #expect(!theirs.isEmpty)
            #expect(try answer.json.member("requestID").string == theirs)
        }
    }

    @Test func everyRequestHasAnIDOfItsOwn() async throws {
        try await TestServer.test { client in
            let first = try await client.send(.get, "/healthz").headers[.requestID]
            let second = try await client.send(.get, "/healthz").headers[.requestID]
            #expect(first != second)
        }
    }

    @Test func answersSayWhoMayKeepThem() async throws {
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

    @Test func liveAnswersHaveADate() async throws {
        try await TestServer.test(.live) { client in
            let answer = try await client.send(.get, "/healthz")
            #expect(answer.headers[.date] != nil)
        }
    }
}
