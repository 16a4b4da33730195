import Foundation
import HTTPTypes
import HesperBlobs
import HesperModel
import HesperStore
import HummingbirdTesting
import Logging
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import HesperServer

/// protocol.md, Signing in: e-mails with links to verify an address and to set a new password.
@Suite struct AccountEmailTests {
    private static let form: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]

    /// Runs a server that passes e-mails to a script, one at a time.
    private static func test(
        _ script: String = TestMailbox.storeScript, logger: Logger = TestServer.silent,
        _ change: TestServer.Change = { _ in },
        _ body: @Sendable (TestClient, TestMailbox) async throws -> Void
    ) async throws {
        let mailbox = try TestMailbox(script)
        defer { mailbox.remove() }
        let changes: TestServer.Change = {
            $0.mail = mailbox.settings
            $0.mailLimits.maxConcurrent = 1
            // Longer than a busy machine delays a test.
            $0.mailLimits.seconds = 3_600
            $0.mailLimits.firstWaitSeconds = 3_600
            $0.mailLimits.longestWaitSeconds = 36_000
            change(&$0)
        }
        try await TestServer.test(.router, changes, logger: logger) { client in try await body(client, mailbox) }
    }

    private static func email(_ address: String) -> String { #"{"email":"\#(address)"}"# }

    /// Creates an account whose address is verified.
    private static func verified(_ client: TestClient, _ mailbox: TestMailbox) async throws -> TestClient {
        let phone = try await client.signedUp()
        let code = try #require(TestMailbox.code(in: try await mailbox.emails(1).last))
        #expect(try await client.send(.post, "/v1/email-verifications", #"{"code":"\#(code)"}"#).status == 204)
        return phone
    }

    private static func status(_ client: TestClient, password: String) async throws -> Int {
        let body = #"{"email":"ada@example.org","password":"\#(password)","deviceName":"phone"}"#
        return try await client.send(.post, "/v1/devices", body).status
    }

    // MARK: Verification of an address

    @Test func aNewAccountGetsAnEmailThatVerifiesItsAddressOnce() async throws {
        try await AccountEmailTests.test { client, mailbox in
            let phone = try await client.signedUp()
            let email = try #require(try await mailbox.emails(1).first)
            #expect(
                email.contains("\nTo: <ada@example.org>\n") && email.contains("\nAuto-Submitted: auto-generated\n"))
            let code = try #require(TestMailbox.code(in: email))
            #expect(email.contains("https://notes.example.org/verify-email?code=\(code)\n"))
            // Opening the link, as some mail programs do in advance, does not use the code.
            let page = try await client.send(.get, "/verify-email?code=\(code)")
            #expect(page.status == 200 && page.text.contains(#"value="\#(code)""#) && !page.text.contains("ada@"))
            #expect(page.headers[.cacheControl] == "no-store" && !page.text.contains("<script"))
            let before = try await phone.send(.get, "/v1/account").text
            #expect(!before.contains("emailVerificationDate"))
            let wrong = OneTimeCode.random().text
            let refused = try await client.send(.post, "/v1/email-verifications", #"{"code":"\#(wrong)"}"#)
            #expect(try refused.slug == "forbidden")

            let verified = try await client.send(
                .post, "/verify-email", "code=\(code)", headers: AccountEmailTests.form)
            #expect(verified.status == 200 && verified.text.contains("Your e-mail address is verified."))
            let date = try await phone.send(.get, "/v1/account").json.member("emailVerificationDate").string
            #expect(Timestamp(date) != nil)
            let again = try await client.send(.post, "/verify-email", "code=\(code)", headers: AccountEmailTests.form)
            #expect(again.status == 403 && again.text.contains("Request another"))
            // The address is verified already, so no e-mail is sent.
            #expect(try await phone.send(.post, "/v1/account/email-verification").status == 204)
            #expect(mailbox.stored.count == 1)
        }
    }

    @Test func anotherEmailInvalidatesTheEarlierOne() async throws {
        try await AccountEmailTests.test { client, mailbox in
            let phone = try await client.signedUp()
            let first = try #require(TestMailbox.code(in: try await mailbox.emails(1).last))
            #expect(try await phone.send(.post, "/v1/account/email-verification").status == 202)
            let second = try #require(TestMailbox.code(in: try await mailbox.emails(2).last))
            #expect(first != second)
            #expect(try await client.send(.post, "/v1/email-verifications", #"{"code":"\#(first)"}"#).status == 403)
            // The code cannot be used to set a password.
            let reset = #"{"code":"\#(second)","newPassword":"87654321"}"#
            #expect(try await client.send(.post, "/v1/passwords", reset).status == 403)
            #expect(try await client.send(.post, "/v1/email-verifications", #"{"code":"\#(second)"}"#).status == 204)
            // Two e-mails have been sent; a third is free.
            let bob = try await client.signedUp("bob@example.org")
            for status in [202, 202, 429] {
                #expect(try await bob.send(.post, "/v1/account/email-verification").status == status)
            }
        }
    }

    /// Sign-up accepts addresses that cannot be written into a header. No e-mail is sent to them.
    @Test func anAddressThatCannotBeARecipientGetsNoEmail() async throws {
        try await AccountEmailTests.test { client, mailbox in
            let bob = try await client.signedUp("bob,eve@example.org")
            let response = try await bob.send(.post, "/v1/account/email-verification")
            #expect(try response.slug == "forbidden")
            _ = try await client.signedUp()
            #expect(try await mailbox.emails(1).count == 1)
            #expect(mailbox.stored.allSatisfy { $0.contains("\nTo: <ada@example.org>\n") })
        }
    }

    // MARK: Password resets

    @Test func aMailedLinkSetsANewPasswordOnce() async throws {
        try await AccountEmailTests.test { client, mailbox in
            let phone = try await AccountEmailTests.verified(client, mailbox)
            let requested = try await client.send(
                .post, "/v1/password-resets", AccountEmailTests.email("ADA@example.org"))
            #expect(requested.status == 202 && requested.text.isEmpty && requested.headers[.cacheControl] == "no-store")
            let email = try #require(try await mailbox.emails(2).last)
            // Sent to the address of the account, not to the address as it was typed.
            #expect(email.contains("\nTo: <ada@example.org>\n"))
            let code = try #require(TestMailbox.code(in: email))
            #expect(email.contains("https://notes.example.org/reset-password?code=\(code)\n"))
            #expect(try await phone.send(.get, "/v1/account").status == 200, "nothing changes until the code is used")
            let reset = #"{"code":"\#(code)","newPassword":"87654321"}"#
            #expect(try await client.send(.post, "/v1/email-verifications", #"{"code":"\#(code)"}"#).status == 403)
            #expect(try await client.send(.post, "/v1/passwords", reset).status == 204)
            #expect(try await phone.send(.get, "/v1/account").status == 401)
            #expect(try await AccountEmailTests.status(client, password: "87654321") == 201)
            #expect(try await client.send(.post, "/v1/passwords", reset).status == 403)
        }
    }

    @Test func aMailedLinkExpiresAfterAnHourAndIsStoredAsAHash() async throws {
        try await AccountEmailTests.test { client, mailbox in
            _ = try await AccountEmailTests.verified(client, mailbox)
            let before = Timestamp.now
            #expect(
                try await client.send(.post, "/v1/password-resets", AccountEmailTests.email("ada@example.org")).status
                    == 202
            )
            let text = try #require(TestMailbox.code(in: try await mailbox.emails(2).last))
            let token = try #require(OneTimeCode(text)?.hash)
            let ticket = try #require(try await client.test.store.read { try $0.ticket(token) })
            #expect(ticket.purpose == .mailedPasswordReset)
            let range = before.adding(Timestamp.hour)...Timestamp.now.adding(Timestamp.hour)
            #expect(range.contains(ticket.endDate))
        }
    }

    /// Anyone can request such an e-mail, so it must not invalidate a code of the operator.
    @Test func aMailedLinkDoesNotInvalidateTheOperatorsCode() async throws {
        try await AccountEmailTests.test { client, mailbox in
            _ = try await AccountEmailTests.verified(client, mailbox)
            let code = OneTimeCode.random()
            try await client.test.store.write { transaction in
                let id = try transaction.account(emailKey: "ada@example.org")?.uniqueID
                let end = Timestamp.now.adding(Ticket.resetLifetime)
                try transaction.issue(Ticket(.passwordReset, account: id, endDate: end), token: code.hash, at: .now)
            }
            #expect(
                try await client.send(.post, "/v1/password-resets", AccountEmailTests.email("ada@example.org")).status
                    == 202
            )
            let mailed = try #require(TestMailbox.code(in: try await mailbox.emails(2).last))
            let reset = { (code: String) in #"{"code":"\#(code)","newPassword":"87654321"}"# }
            #expect(try await client.send(.post, "/v1/passwords", reset(code.text)).status == 204)
            // Setting the password invalidates the other codes.
            #expect(try await client.send(.post, "/v1/passwords", reset(mailed)).status == 403)
        }
    }

    /// For addresses with an account, without one, and with an unverified account, the responses are identical, and only one gets
    /// an e-mail.
    @Test func responsesDoNotRevealWhoHasAnAccount() async throws {
        try await AccountEmailTests.test { client, mailbox in
            _ = try await AccountEmailTests.verified(client, mailbox)
            _ = try await client.signedUp("bob@example.org")
            #expect(try await mailbox.emails(2).count == 2)
            var api: [TestResponse] = []
            var pages: [TestResponse] = []
            for name in ["nobody", "bob", "ada"] {
                api.append(
                    try await client.send(
                        .post, "/v1/password-resets", AccountEmailTests.email("\(name)@example.org"),
                        headers: [.requestID: "the-same"]))
                var headers = AccountEmailTests.form
                headers[.requestID] = "the-same"
                pages.append(
                    try await client.send(.post, "/forgot-password", "email=\(name)%40example.org", headers: headers))
            }
            for responses in [api, pages] {
                #expect(responses.allSatisfy { $0.status == 202 })
                #expect(Set(responses.map { "\($0.headers) \($0.text)" }).count == 1)
            }
            // E-mails are sent in order, so those to the other addresses would have been sent by now.
            let emails = try await mailbox.emails(4)
            #expect(emails.dropFirst(2).map { $0.contains("\nTo: <ada@example.org>\n") } == [true, true])
            // Waits are identical too.
            var refusals: [TestResponse] = []
            for name in ["nobody", "bob", "ada"] {
                var response: TestResponse
                repeat {
                    response = try await client.send(
                        .post, "/v1/password-resets", AccountEmailTests.email("\(name)@example.org"),
                        headers: [.requestID: "the-same"])
                } while response.status == 202
                refusals.append(response)
            }
            #expect(refusals.allSatisfy { $0.status == 429 && $0.headers[.retryAfter] != nil })
            #expect(Set(refusals.map { $0.text.replacing(#/[0-9]+/#, with: "n") }).count == 1)
        }
    }

    /// The response is sent even while the database is unavailable, so nothing is looked up before it.
    @Test func theResponseDoesNotWaitForTheDatabase() async throws {
        let mailbox = try TestMailbox()
        defer { mailbox.remove() }
        let test = try TestServer()
        defer { try? FileManager.default.removeItem(at: test.folder) }
        let store = SharedStore(store: test.store, signals: nil)
        store.failures.withLockedValue { $0 = .max }
        var settings = test.server.settings
        settings.mail = mailbox.settings
        let server = try HesperServer(
            store: store, blobs: try FolderBlobs(path: test.folder.appending(path: "attachments").path),
            stage: try UploadFolder(path: test.folder.appending(path: "uploads").path), settings: settings,
            logger: TestServer.silent)
        try await server.application().test(.router) { client in
            let response = try await client.executeRequest(
                uri: "/v1/password-resets", method: .post, headers: [.contentType: "application/json"],
                body: ByteBuffer(string: AccountEmailTests.email("ada@example.org")))
            #expect(response.status == .accepted)
            let other = try await client.executeRequest(uri: "/readyz", method: .get, headers: [:], body: nil)
            #expect(other.status == .serviceUnavailable, "the database is unavailable")
        }
    }

    @Test func invalidAddressesAreRefused() async throws {
        try await AccountEmailTests.test { client, _ in
            for (body, slug) in [
                (#"{"email":"ada"}"#, "invalid-field"), (#"{}"#, "invalid-field"), (#"{"email":1}"#, "invalid-field"),
                (#"{"email":"a@b\nBcc: c@d"}"#, "invalid-field"), (#"{"email":"a@b.c","x":1}"#, "unknown-field"),
            ] {
                let response = try await client.send(.post, "/v1/password-resets", body)
                #expect(try response.slug == slug, "\(body)")
            }
            let page = try await client.send(
                .post, "/forgot-password", "email=%22%3E%3Cb%3E", headers: AccountEmailTests.form)
            #expect(page.status == 422 && page.text.contains("&quot;&gt;&lt;b&gt;") && !page.text.contains("<b>"))
            #expect(try await client.send(.get, "/forgot-password").text.contains(#"action="/forgot-password""#))
        }
    }

    // MARK: The command

    /// Requests are not delayed while an e-mail waits for its command.
    @Test func aSlowCommandDelaysNoRequest() async throws {
        let script = #"until [ -e "$1/go" ]; do sleep 0.1; done; "# + TestMailbox.storeScript
        try await AccountEmailTests.test(script) { client, mailbox in
            let phone = try await client.signedUp()
            #expect(try await phone.send(.post, "/v1/account/email-verification").status == 202)
            #expect(try await phone.send(.get, "/v1/account").status == 200)
            #expect(mailbox.stored.isEmpty)
            try Data().write(to: mailbox.folder.appending(path: "go"))
            #expect(try await mailbox.emails(2).count == 2)
        }
    }

    @Test func aFailedCommandIsLoggedWithoutAddressAndCode() async throws {
        let lines = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "test") { _ in LogRecorder(lines: lines, logLevel: .trace) }
        let script = TestMailbox.storeScript + "; echo ada@example.org >&2; exit 75"
        try await AccountEmailTests.test(script, logger: logger) { client, mailbox in
            _ = try await client.signedUp()
            let code = try #require(TestMailbox.code(in: try await mailbox.emails(1).first))
            for _ in 0..<1_500 {
                if lines.withLockedValue({ $0.contains { $0.hasPrefix("error") } }) { break }
                try await Task.sleep(for: .milliseconds(20))
            }
            let logged = lines.withLockedValue { $0 }
            let line = try #require(logged.first { $0.hasPrefix("error") })
            #expect(line.contains("the command exited with status 75") && line.contains("kind=email-verification"))
            #expect(logged.allSatisfy { !$0.contains("ada@") && !$0.contains(code) })
        }
    }

    // MARK: Without a mail command

    @Test func withoutACommandNoEmailIsSent() async throws {
        try await TestServer.test { client in
            let info = try await client.send(.get, "/v1/server").text
            #expect(!info.contains(#""mail""#))
            let phone = try await client.signedUp()
            for response in [
                try await client.send(.post, "/v1/password-resets", AccountEmailTests.email("ada@example.org")),
                try await phone.send(.post, "/v1/account/email-verification"),
            ] {
                #expect(try response.slug == "forbidden")
                #expect(response.text.contains("Ask its operator"))
            }
            for path in ["/forgot-password", "/verify-email"] {
                #expect(try await client.send(.get, path).status == 404)
            }
        }
        try await AccountEmailTests.test { client, _ in
            let info = try await client.send(.get, "/v1/server").text
            #expect(info.contains(#""webhooks","mail"]"#))
        }
    }
}
