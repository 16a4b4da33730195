import HTTPTypes
import Testing

@testable import HesperServer

/// protocol.md, Signing in: while there is no account, a link creates the first one, whatever the sign-up policy.
@Suite struct FirstAccountTests {
    private static let closed: TestServer.Change = { ($0.signUp, $0.webApp) = (.closed, "Public") }
    private static let withWebApp: TestServer.Change = { $0.webApp = "Public" }

    /// The secret of the link.
    private static func invitation(_ client: TestClient) throws -> String {
        let link = try #require(client.test.server.firstAccountLink(origin: "http://127.0.0.1:8080"))
        let pattern = #/http://127\.0\.0\.1:8080/\#/sign-up\?invitation=([A-Za-z0-9_-]{43})/#
        return String(try #require(link.wholeMatch(of: pattern)).1)
    }

    @Test func theSecretCreatesOneAccount() async throws {
        try await TestServer.test(.router, FirstAccountTests.closed) { client in
            let invitation = try FirstAccountTests.invitation(client)
            func body(_ email: String) -> String {
                #"{"email":"\#(email)","password":"12345678","deviceName":"phone","invitation":"\#(invitation)"}"#
            }
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<5 {
                    group.addTask { try await client.send(.post, "/v1/accounts", body("a\(index)@example.org")).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [201, 403, 403, 403, 403])
        }
    }

    @Test(arguments: ["", "?invitation=", "?invitation=wrong"]) func wrongSecretsAreRefused(_ query: String)
        async throws
    {
        try await TestServer.test(.router, FirstAccountTests.closed) { client in
            let page = try await client.send(.get, "/sign-up\(query)")
            #expect(page.status == 403)
            let body = #"{"email":"a@example.org","password":"12345678","deviceName":"x","invitation":"wrong"}"#
            #expect(try await client.send(.post, "/v1/accounts", body).status == 403)
            #expect(try await client.test.store.read { try $0.accounts() }.isEmpty)
        }
    }

    @Test func theLinkIsInvalidOnceThereIsAnAccount() async throws {
        try await TestServer.test(.router, FirstAccountTests.withWebApp) { client in
            let invitation = try FirstAccountTests.invitation(client)
            #expect(try await client.test.server.hasNoAccount())
            #expect(try await client.send(.get, "/sign-up?invitation=\(invitation)").status == 303)
            _ = try await client.signedUp()
            #expect(try await client.send(.get, "/sign-up?invitation=\(invitation)").status == 403)
            #expect(try await !client.test.server.hasNoAccount())
        }
    }

    @Test func withoutTheWebAppThereIsNoLink() async throws {
        try await TestServer.test { client in
            #expect(client.test.server.firstAccountLink(origin: "http://127.0.0.1:8080") == nil)
        }
    }
}
