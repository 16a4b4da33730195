import HTTPTypes
import Testing

@testable import HesperServer

/// protocol.md, Signing in: while there is no account at all, a one-time link makes the first, whatever the policy says.
@Suite struct FirstAccountTests {
    private static let form: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
    private static let closed: TestServer.Change = { $0.signUp = .closed }

    /// The link of a server without accounts, and its secret.
    private static func link(_ client: TestClient) async throws -> (path: String, invitation: String) {
        let link = try #require(try await client.test.server.firstAccountLink(origin: "http://127.0.0.1:8080"))
        let path = try #require(link.wholeMatch(of: #/http://127\.0\.0\.1:8080(/sign-up\?invitation=.*)/#)).1
        let invitation = try #require(path.split(separator: "=").last)
        #expect(invitation.count == 43)
        return (String(path), String(invitation))
    }

    @Test func inABrowser() async throws {
        try await TestServer.test(.router, FirstAccountTests.closed) { client in
            let (path, invitation) = try await FirstAccountTests.link(client)
            let page = try await client.send(.get, path)
            #expect(page.status == 200)
            #expect(page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(page.headers[.contentSecurityPolicy]?.hasPrefix("default-src 'none'; style-src 'sha256-") == true)
            #expect(page.headers[.cacheControl] == "no-store")
            #expect(page.text.contains(#"<form method="post" action="/sign-up">"#))
            #expect(!page.text.contains("<script"))

            // A mistake shows the form again, with what was typed in its place.
            let short = try await client.send(
                .post, "/sign-up",
                "invitation=\(invitation)&email=%22%3E%3Cb%3Eada%40example.org&password=1234567",
                headers: FirstAccountTests.form)
            #expect(short.status == 422)
            #expect(short.text.contains("8 to 1024 bytes"))
            #expect(short.text.contains("&quot;&gt;&lt;b&gt;ada@example.org") && !short.text.contains("<b>"))

            let made = try await client.send(
                .post, "/sign-up", "invitation=\(invitation)&email=ada%40example.org&password=correct+horse%2B1",
                headers: FirstAccountTests.form)
            #expect(made.status == 201 && made.text.contains("ada@example.org"))
            let body = #"{"email":"ada@example.org","password":"correct horse+1","deviceName":"phone"}"#
            #expect(try await client.send(.post, "/v1/devices", body).status == 201)

            // It is used up.
            #expect(try await client.send(.get, path).status == 403)
            let again = try await client.send(
                .post, "/sign-up", "invitation=\(invitation)&email=eve%40example.org&password=12345678",
                headers: FirstAccountTests.form)
            #expect(again.status == 403)
            #expect(try await client.test.server.firstAccountLink(origin: "") == nil)
        }
    }

    @Test func throughTheAPI() async throws {
        try await TestServer.test(.router, FirstAccountTests.closed) { client in
            let (_, invitation) = try await FirstAccountTests.link(client)
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

    @Test(arguments: ["", "?invitation=", "?invitation=wrong"]) func withoutTheSecret(_ query: String) async throws {
        try await TestServer.test(.router, FirstAccountTests.closed) { client in
            #expect(try await client.send(.get, "/sign-up\(query)").status == 403)
            let form = "email=ada%40example.org&password=12345678&" + query.dropFirst()
            let answer = try await client.send(.post, "/sign-up", form, headers: FirstAccountTests.form)
            #expect(answer.status == 403)
            #expect(try await client.test.store.read { try $0.accounts() }.isEmpty)
        }
    }

    @Test func whoeverSignsUpFirstEndsIt() async throws {
        try await TestServer.test { client in
            let (path, _) = try await FirstAccountTests.link(client)
            _ = try await client.signedUp()
            #expect(try await client.send(.get, path).status == 403)
            #expect(try await client.test.server.firstAccountLink(origin: "") == nil)
        }
    }
}
