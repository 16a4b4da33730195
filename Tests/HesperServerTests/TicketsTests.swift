import HTTPTypes
import HesperModel
import HesperStore
import Testing

@testable import HesperServer

/// protocol.md, Signing in: one-time codes.
@Suite struct TicketsTests {
    private static let form: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
    private static let invite: TestServer.Change = { $0.signUp = .invite }

    /// Issues a code, as `hesper account reset-password` and `hesper account invite` do.
    private static func issue(
        _ client: TestClient, _ purpose: Ticket.Purpose, account: String? = nil, email: String? = nil,
        lasting milliseconds: Int64 = Timestamp.hour
    ) async throws -> String {
        let code = OneTimeCode.random()
        try await client.test.store.write { transaction in
            let id = try account.flatMap { try transaction.account(emailKey: $0)?.uniqueID }
            let now = Timestamp.now
            try transaction.issue(
                Ticket(purpose, account: id, email: email, endDate: now.adding(milliseconds)), token: code.hash,
                at: now)
        }
        return code.text
    }

    private static func reset(_ code: String, _ password: String = "87654321") -> String {
        #"{"code":"\#(code)","newPassword":"\#(password)"}"#
    }

    private static func signUp(_ email: String, _ code: String) -> String {
        #"{"email":"\#(email)","password":"12345678","deviceName":"phone","invitation":"\#(code)"}"#
    }

    private static func status(_ client: TestClient, password: String) async throws -> Int {
        let body = #"{"email":"ada@example.org","password":"\#(password)","deviceName":"phone"}"#
        return try await client.send(.post, "/v1/devices", body).status
    }

    // MARK: Password resets

    @Test func aCodeSetsANewPasswordOnce() async throws {
        try await TestServer.test { client in
            let phone = try await client.signedUp()
            let bob = try await client.signedUp("bob@example.org")
            let code = try await TicketsTests.issue(client, .passwordReset, account: "ada@example.org")
            // Nothing changes until the code is used; an invalid password does not use it.
            #expect(try await phone.send(.get, "/v1/account").status == 200)
            #expect(try await client.send(.post, "/v1/passwords", TicketsTests.reset(code, "short")).status == 422)
            #expect(try await client.send(.post, "/v1/passwords", TicketsTests.reset(code.lowercased())).status == 204)
            #expect(try await phone.send(.get, "/v1/account").status == 401)
            #expect(try await bob.send(.get, "/v1/account").status == 200)
            #expect(try await TicketsTests.status(client, password: TestClient.password) == 401)
            #expect(try await TicketsTests.status(client, password: "87654321") == 201)
            let again = try await client.send(.post, "/v1/passwords", TicketsTests.reset(code, "another one"))
            #expect(again.status == 403)
            #expect(try again.slug == "forbidden")
            #expect(try again.json.member("pointer").string == "/code")
            #expect(try await TicketsTests.status(client, password: "87654321") == 201)
        }
    }

    @Test func ofConcurrentResetsOneSucceeds() async throws {
        try await TestServer.test { client in
            _ = try await client.signedUp()
            let code = try await TicketsTests.issue(client, .passwordReset, account: "ada@example.org")
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<8 {
                    group.addTask {
                        let body = TicketsTests.reset(code, "password \(index)")
                        return try await client.send(.post, "/v1/passwords", body).status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [204] + Array(repeating: 403, count: 7))
        }
    }

    @Test func expiredReplacedAndUnrelatedCodesAreRefused() async throws {
        try await TestServer.test { client in
            let phone = try await client.signedUp()
            let expired = try await TicketsTests.issue(client, .passwordReset, account: "ada@example.org", lasting: 0)
            let invitation = try await TicketsTests.issue(client, .invitation)
            let replaced = try await TicketsTests.issue(client, .passwordReset, account: "ada@example.org")
            let invalidated = try await TicketsTests.issue(client, .passwordReset, account: "ada@example.org")
            let change =
                #"{"currentPassword":"\#(TestClient.password)","newPassword":"12345678","signOutOthers":false}"#
            #expect(try await phone.send(.patch, "/v1/account", change).status == 200)
            for code in [expired, invitation, replaced, invalidated, OneTimeCode.random().text, "", "x", "' OR 1=1 --"]
            {
                let response = try await client.send(.post, "/v1/passwords", TicketsTests.reset(code))
                #expect(response.status == 403, "\(code)")
                #expect(!response.text.contains("ada@"))
            }
            #expect(try await phone.send(.get, "/v1/account").status == 200)
            #expect(try await TicketsTests.status(client, password: "12345678") == 201)
        }
    }

    @Test func wrongCodesAreRateLimited() async throws {
        let change: TestServer.Change = { $0.signIns.perAddress = Rate(burst: 3, perMinute: 0.01) }
        try await TestServer.test(.router, change) { client in
            _ = try await client.signedUp()
            let code = try await TicketsTests.issue(client, .passwordReset, account: "ada@example.org")
            for _ in 0..<3 {
                let wrong = TicketsTests.reset(OneTimeCode.random().text)
                #expect(try await client.send(.post, "/v1/passwords", wrong).status == 403)
            }
            let refused = try await client.send(.post, "/v1/passwords", TicketsTests.reset(code))
            #expect(refused.status == 429)
            #expect(refused.headers[.retryAfter] != nil)
            let page = try await client.send(
                .post, "/reset-password", "code=\(code)&password=87654321", headers: TicketsTests.form)
            #expect(page.status == 429)
        }
    }

    @Test func theResetPage() async throws {
        try await TestServer.test { client in
            _ = try await client.signedUp()
            let code = try await TicketsTests.issue(client, .passwordReset, account: "ada@example.org")
            // Opening the page changes nothing, and does not check the code.
            let page = try await client.send(.get, "/reset-password?code=\(code)")
            #expect(page.status == 200)
            #expect(page.headers[.cacheControl] == "no-store")
            #expect(page.headers[.contentSecurityPolicy]?.contains("frame-ancestors 'none'") == true)
            #expect(page.text.contains(#"value="\#(code)""#) && !page.text.contains("<script"))
            let other = try await client.send(.get, "/reset-password?code=%22%3E%3Cb%3Ex")
            #expect(other.status == 200)
            #expect(other.text.contains("&quot;&gt;&lt;b&gt;x") && !other.text.contains("<b>"))

            let short = try await client.send(
                .post, "/reset-password", "code=\(code)&password=1234567", headers: TicketsTests.form)
            #expect(short.status == 422 && short.text.contains("8 to 1024 bytes") && short.text.contains(code))
            let set = try await client.send(
                .post, "/reset-password", "code=\(code)&password=correct+horse%2B1", headers: TicketsTests.form)
            #expect(set.status == 200 && set.text.contains("Password changed"))
            #expect(try await TicketsTests.status(client, password: "correct horse+1") == 201)
            let again = try await client.send(
                .post, "/reset-password", "code=\(code)&password=12345678", headers: TicketsTests.form)
            #expect(again.status == 403 && again.text.contains("Request another"))
        }
    }

    // MARK: Invitations

    @Test func anInvitationCreatesOneAccount() async throws {
        try await TestServer.test(.router, TicketsTests.invite) { client in
            #expect(try await client.send(.get, "/v1/server").text.contains(#""signUp":"invite""#))
            let code = try await TicketsTests.issue(client, .invitation)
            for wrong in ["", OneTimeCode.random().text] {
                let refused = try await client.send(
                    .post, "/v1/accounts", TicketsTests.signUp("ada@example.org", wrong))
                #expect(try refused.slug == "sign-up-closed")
            }
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<5 {
                    let body = TicketsTests.signUp("a\(index)@example.org", code)
                    group.addTask { try await client.send(.post, "/v1/accounts", body).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [201, 403, 403, 403, 403])
            #expect(try await client.test.store.read { try $0.accounts() }.count == 1)
        }
    }

    @Test func anInvitationForAnAddressIsOnlyForThat() async throws {
        try await TestServer.test(.router, TicketsTests.invite) { client in
            let code = try await TicketsTests.issue(client, .invitation, email: "Ada@example.org")
            let other = try await client.send(.post, "/v1/accounts", TicketsTests.signUp("eve@example.org", code))
            #expect(try other.slug == "forbidden")
            #expect(try other.json.member("pointer").string == "/email")
            #expect(!other.text.lowercased().contains("ada@"))
            let body = TicketsTests.signUp("ada@EXAMPLE.org", code)
            #expect(try await client.send(.post, "/v1/accounts", body).status == 201)
        }
    }

    /// Without a valid invitation, the response does not reveal whether an address has an account.
    @Test func responsesDoNotRevealWhoHasAnAccount() async throws {
        try await TestServer.test(.router, TicketsTests.invite) { client in
            let code = try await TicketsTests.issue(client, .invitation)
            let made = try await client.send(.post, "/v1/accounts", TicketsTests.signUp("ada@example.org", code))
            #expect(made.status == 201)
            for email in ["ada@example.org", "eve@example.org"] {
                let response = try await client.send(.post, "/v1/accounts", TicketsTests.signUp(email, code))
                #expect(try response.slug == "sign-up-closed")
                #expect(!response.text.contains(email))
            }
        }
    }

    @Test(arguments: SignUpPolicy.allCases)
    func anInvitationIsValidUnderEveryPolicy(policy: SignUpPolicy) async throws {
        let change: TestServer.Change = { $0.signUp = policy }
        try await TestServer.test(.router, change) { client in
            let code = try await TicketsTests.issue(client, .invitation)
            #expect(try await client.send(.get, "/sign-up?invitation=\(code)").status == 200)
            let made = try await client.send(.post, "/v1/accounts", TicketsTests.signUp("ada@example.org", code))
            #expect(made.status == 201)
            #expect(try await client.send(.get, "/sign-up?invitation=\(code)").status == 403)
        }
    }

    @Test func withoutTheWebAppThePageExplainsHowToSignUp() async throws {
        try await TestServer.test(.router, TicketsTests.invite) { client in
            let code = try await TicketsTests.issue(client, .invitation)
            let page = try await client.send(.get, "/sign-up?invitation=\(code)")
            #expect(page.status == 200 && page.text.contains("POST /v1/accounts") && !page.text.contains("<form"))
            #expect(try await client.send(.post, "/sign-up", "invitation=\(code)").status == 405)
        }
    }

    @Test func withTheWebAppTheLinkRedirectsThere() async throws {
        let change: TestServer.Change = {
            $0.signUp = .invite
            $0.webApp = "Public"
        }
        try await TestServer.test(.router, change) { client in
            let code = try await TicketsTests.issue(client, .invitation)
            let page = try await client.send(.get, "/sign-up?invitation=\(code.lowercased())")
            #expect(page.status == 303)
            #expect(page.headers[.location] == "/#/sign-up?invitation=\(code)")
            let wrong = try await client.send(.get, "/sign-up?invitation=x%0D%0ASet-Cookie:%20a=b")
            #expect(wrong.status == 403 && wrong.headers[.location] == nil)
        }
    }
}
