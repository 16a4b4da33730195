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

/// protocol.md, Signing in: links by mail, to a new password and to say that an address is one's own.
@Suite struct LettersTests {
    private static let form: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]

    /// A server that hands letters to a script, one after the other.
    private static func test(
        _ script: String = Postbox.keeps, logger: Logger = TestServer.silent, _ change: TestServer.Change = { _ in },
        _ body: @Sendable (TestClient, Postbox) async throws -> Void
    ) async throws {
        let postbox = try Postbox(script)
        defer { postbox.remove() }
        let changes: TestServer.Change = {
            $0.mail = postbox.settings
            $0.mailLimits.atOnce = 1
            // However long a busy machine lets a test wait.
            $0.mailLimits.seconds = 3_600
            $0.mailLimits.firstWaitSeconds = 3_600
            $0.mailLimits.longestWaitSeconds = 36_000
            change(&$0)
        }
        try await TestServer.test(.router, changes, logger: logger) { client in try await body(client, postbox) }
    }

    private static func email(_ address: String) -> String { #"{"email":"\#(address)"}"# }

    /// Makes an account whose address is verified.
    private static func verified(_ client: TestClient, _ postbox: Postbox) async throws -> TestClient {
        let phone = try await client.signedUp()
        let code = try #require(Postbox.code(in: try await postbox.letters(1).last))
        #expect(try await client.send(.post, "/v1/email-verifications", #"{"code":"\#(code)"}"#).status == 204)
        return phone
    }

    private static func status(_ client: TestClient, password: String) async throws -> Int {
        let body = #"{"email":"ada@example.org","password":"\#(password)","deviceName":"phone"}"#
        return try await client.send(.post, "/v1/devices", body).status
    }

    // MARK: An address

    @Test func aNewAccountGetsALetterThatVerifiesItsAddressOnce() async throws {
        try await LettersTests.test { client, postbox in
            let phone = try await client.signedUp()
            let letter = try #require(try await postbox.letters(1).first)
            #expect(
                letter.contains("\nTo: <ada@example.org>\n") && letter.contains("\nAuto-Submitted: auto-generated\n"))
            let code = try #require(Postbox.code(in: letter))
            #expect(letter.contains("https://notes.example.org/verify-email?code=\(code)\n"))
            // Looking at the link, as mail programs do, uses nothing up.
            let page = try await client.send(.get, "/verify-email?code=\(code)")
            #expect(page.status == 200 && page.text.contains(#"value="\#(code)""#) && !page.text.contains("ada@"))
            #expect(page.headers[.cacheControl] == "no-store" && !page.text.contains("<script"))
            let before = try await phone.send(.get, "/v1/account").text
            #expect(!before.contains("emailVerificationDate"))
            let wrong = OneTimeCode.random().text
            let refused = try await client.send(.post, "/v1/email-verifications", #"{"code":"\#(wrong)"}"#)
            #expect(try refused.slug == "forbidden")

            let said = try await client.send(.post, "/verify-email", "code=\(code)", headers: LettersTests.form)
            #expect(said.status == 200 && said.text.contains("The address is verified."))
            let date = try await phone.send(.get, "/v1/account").json.member("emailVerificationDate").string
            #expect(Timestamp(date) != nil)
            let again = try await client.send(.post, "/verify-email", "code=\(code)", headers: LettersTests.form)
            #expect(again.status == 403 && again.text.contains("ask for another"))
            // Nothing is left to do, and no letter goes.
            #expect(try await phone.send(.post, "/v1/account/email-verification").status == 204)
            #expect(postbox.kept.count == 1)
        }
    }

    @Test func anotherLetterMakesTheOneBeforeVoid() async throws {
        try await LettersTests.test { client, postbox in
            let phone = try await client.signedUp()
            let first = try #require(Postbox.code(in: try await postbox.letters(1).last))
            #expect(try await phone.send(.post, "/v1/account/email-verification").status == 202)
            let second = try #require(Postbox.code(in: try await postbox.letters(2).last))
            #expect(first != second)
            #expect(try await client.send(.post, "/v1/email-verifications", #"{"code":"\#(first)"}"#).status == 403)
            // Neither is it good for a password.
            let reset = #"{"code":"\#(second)","newPassword":"87654321"}"#
            #expect(try await client.send(.post, "/v1/passwords", reset).status == 403)
            #expect(try await client.send(.post, "/v1/email-verifications", #"{"code":"\#(second)"}"#).status == 204)
            // Two letters have gone, and a third is free.
            let bob = try await client.signedUp("bob@example.org")
            for status in [202, 202, 429] {
                #expect(try await bob.send(.post, "/v1/account/email-verification").status == status)
            }
        }
    }

    /// Sign-up takes what no header could hold; no letter goes there.
    @Test func anAddressThatNoLetterCanHave() async throws {
        try await LettersTests.test { client, postbox in
            let bob = try await client.signedUp("bob,eve@example.org")
            let answer = try await bob.send(.post, "/v1/account/email-verification")
            #expect(try answer.slug == "forbidden")
            _ = try await client.signedUp()
            #expect(try await postbox.letters(1).count == 1)
            #expect(postbox.kept.allSatisfy { $0.contains("\nTo: <ada@example.org>\n") })
        }
    }

    // MARK: A password

    @Test func aLinkByMailSetsANewPasswordOnce() async throws {
        try await LettersTests.test { client, postbox in
            let phone = try await LettersTests.verified(client, postbox)
            let asked = try await client.send(.post, "/v1/password-resets", LettersTests.email("ADA@example.org"))
            #expect(asked.status == 202 && asked.text.isEmpty && asked.headers[.cacheControl] == "no-store")
            let letter = try #require(try await postbox.letters(2).last)
            // To the address of the account, however it was typed.
            #expect(letter.contains("\nTo: <ada@example.org>\n"))
            let code = try #require(Postbox.code(in: letter))
            #expect(letter.contains("https://notes.example.org/reset-password?code=\(code)\n"))
            #expect(try await phone.send(.get, "/v1/account").status == 200, "until it is used, everything stays")
            let reset = #"{"code":"\#(code)","newPassword":"87654321"}"#
            #expect(try await client.send(.post, "/v1/email-verifications", #"{"code":"\#(code)"}"#).status == 403)
            #expect(try await client.send(.post, "/v1/passwords", reset).status == 204)
            #expect(try await phone.send(.get, "/v1/account").status == 401)
            #expect(try await LettersTests.status(client, password: "87654321") == 201)
            #expect(try await client.send(.post, "/v1/passwords", reset).status == 403)
        }
    }

    @Test func aMailedLinkEndsAfterAnHourAndIsKeptAsAHash() async throws {
        try await LettersTests.test { client, postbox in
            _ = try await LettersTests.verified(client, postbox)
            let before = Timestamp.now
            #expect(
                try await client.send(.post, "/v1/password-resets", LettersTests.email("ada@example.org")).status == 202
            )
            let text = try #require(Postbox.code(in: try await postbox.letters(2).last))
            let token = try #require(OneTimeCode(text)?.hash)
            let ticket = try #require(try await client.test.store.read { try $0.ticket(token) })
            #expect(ticket.purpose == .mailedPasswordReset)
            let range = before.adding(Timestamp.hour)...Timestamp.now.adding(Timestamp.hour)
            #expect(range.contains(ticket.endDate))
        }
    }

    /// Anybody can ask for such a letter: it takes nothing away from what the operator gave.
    @Test func aMailedLinkLeavesTheOperatorsCodeGood() async throws {
        try await LettersTests.test { client, postbox in
            _ = try await LettersTests.verified(client, postbox)
            let code = OneTimeCode.random()
            try await client.test.store.write { transaction in
                let id = try transaction.account(emailKey: "ada@example.org")?.uniqueID
                let end = Timestamp.now.adding(Ticket.resetLifetime)
                try transaction.issue(Ticket(.passwordReset, account: id, endDate: end), token: code.hash, at: .now)
            }
            #expect(
                try await client.send(.post, "/v1/password-resets", LettersTests.email("ada@example.org")).status == 202
            )
            let mailed = try #require(Postbox.code(in: try await postbox.letters(2).last))
            let reset = { (code: String) in #"{"code":"\#(code)","newPassword":"87654321"}"# }
            #expect(try await client.send(.post, "/v1/passwords", reset(code.text)).status == 204)
            // One new password is enough.
            #expect(try await client.send(.post, "/v1/passwords", reset(mailed)).status == 403)
        }
    }

    /// Who has an account, who has none, and whose address nobody has verified: the answers are the same to the byte, and only one
    /// of them gets a letter.
    @Test func nobodyLearnsWhoHasAnAccount() async throws {
        try await LettersTests.test { client, postbox in
            _ = try await LettersTests.verified(client, postbox)
            _ = try await client.signedUp("bob@example.org")
            #expect(try await postbox.letters(2).count == 2)
            var api: [Answer] = []
            var pages: [Answer] = []
            for name in ["nobody", "bob", "ada"] {
                api.append(
                    try await client.send(
                        .post, "/v1/password-resets", LettersTests.email("\(name)@example.org"),
                        headers: [.requestID: "the-same"]))
                var headers = LettersTests.form
                headers[.requestID] = "the-same"
                pages.append(
                    try await client.send(.post, "/forgot-password", "email=\(name)%40example.org", headers: headers))
            }
            for answers in [api, pages] {
                #expect(answers.allSatisfy { $0.status == 202 })
                #expect(Set(answers.map { "\($0.headers) \($0.text)" }).count == 1)
            }
            // One after the other: by now the others had their turns.
            let letters = try await postbox.letters(4)
            #expect(letters.dropFirst(2).map { $0.contains("\nTo: <ada@example.org>\n") } == [true, true])
            // Waits are the same as well.
            var refusals: [Answer] = []
            for name in ["nobody", "bob", "ada"] {
                var answer: Answer
                repeat {
                    answer = try await client.send(
                        .post, "/v1/password-resets", LettersTests.email("\(name)@example.org"),
                        headers: [.requestID: "the-same"])
                } while answer.status == 202
                refusals.append(answer)
            }
            #expect(refusals.allSatisfy { $0.status == 429 && $0.headers[.retryAfter] != nil })
            #expect(Set(refusals.map { $0.text.replacing(#/[0-9]+/#, with: "n") }).count == 1)
        }
    }

    /// The answer is given while the database answers nobody: so nothing is looked up before it.
    @Test func theAnswerWaitsForNoLook() async throws {
        let postbox = try Postbox()
        defer { postbox.remove() }
        let test = try TestServer()
        defer { try? FileManager.default.removeItem(at: test.folder) }
        let store = SharedStore(store: test.store, signals: nil)
        store.failures.withLockedValue { $0 = .max }
        var settings = test.server.settings
        settings.mail = postbox.settings
        let server = try HesperServer(
            store: store, blobs: try FolderBlobs(path: test.folder.appending(path: "attachments").path),
            stage: try UploadFolder(path: test.folder.appending(path: "uploads").path), settings: settings,
            logger: TestServer.silent)
        try await server.application().test(.router) { client in
            let answer = try await client.executeRequest(
                uri: "/v1/password-resets", method: .post, headers: [.contentType: "application/json"],
                body: ByteBuffer(string: LettersTests.email("ada@example.org")))
            #expect(answer.status == .accepted)
            let other = try await client.executeRequest(uri: "/readyz", method: .get, headers: [:], body: nil)
            #expect(other.status == .serviceUnavailable, "it does answer nobody")
        }
    }

    @Test func whatIsNoAddressIsRefused() async throws {
        try await LettersTests.test { client, _ in
            for (body, slug) in [
                (#"{"email":"ada"}"#, "invalid-field"), (#"{}"#, "invalid-field"), (#"{"email":1}"#, "invalid-field"),
                (#"{"email":"a@b\nBcc: c@d"}"#, "invalid-field"), (#"{"email":"a@b.c","x":1}"#, "unknown-field"),
            ] {
                let answer = try await client.send(.post, "/v1/password-resets", body)
                #expect(try answer.slug == slug, "\(body)")
            }
            let page = try await client.send(
                .post, "/forgot-password", "email=%22%3E%3Cb%3E", headers: LettersTests.form)
            #expect(page.status == 422 && page.text.contains("&quot;&gt;&lt;b&gt;") && !page.text.contains("<b>"))
            #expect(try await client.send(.get, "/forgot-password").text.contains(#"action="/forgot-password""#))
        }
    }

    // MARK: The command

    /// The answer comes while the letter waits for its command, and so does everybody else's.
    @Test func aCommandThatWaitsHoldsUpNobody() async throws {
        let script = #"until [ -e "$1/go" ]; do sleep 0.1; done; "# + Postbox.keeps
        try await LettersTests.test(script) { client, postbox in
            let phone = try await client.signedUp()
            #expect(try await phone.send(.post, "/v1/account/email-verification").status == 202)
            #expect(try await phone.send(.get, "/v1/account").status == 200)
            #expect(postbox.kept.isEmpty)
            try Data().write(to: postbox.folder.appending(path: "go"))
            #expect(try await postbox.letters(2).count == 2)
        }
    }

    @Test func aCommandThatFailsIsLoggedWithoutAddressAndCode() async throws {
        let lines = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "test") { _ in Lines(lines: lines, logLevel: .trace) }
        let script = Postbox.keeps + "; echo ada@example.org >&2; exit 75"
        try await LettersTests.test(script, logger: logger) { client, postbox in
            _ = try await client.signedUp()
            let code = try #require(Postbox.code(in: try await postbox.letters(1).first))
            for _ in 0..<1_500 {
                if lines.withLockedValue({ $0.contains { $0.hasPrefix("error") } }) { break }
                try await Task.sleep(for: .milliseconds(20))
            }
            let logged = lines.withLockedValue { $0 }
            let line = try #require(logged.first { $0.hasPrefix("error") })
            #expect(line.contains("the command ended with status 75") && line.contains("letter=email-verification"))
            #expect(logged.allSatisfy { !$0.contains("ada@") && !$0.contains(code) })
        }
    }

    // MARK: Without mail

    @Test func withoutACommandNoMailIsSent() async throws {
        try await TestServer.test { client in
            let info = try await client.send(.get, "/v1/server").text
            #expect(!info.contains(#""mail""#))
            let phone = try await client.signedUp()
            for answer in [
                try await client.send(.post, "/v1/password-resets", LettersTests.email("ada@example.org")),
                try await phone.send(.post, "/v1/account/email-verification"),
            ] {
                #expect(try answer.slug == "forbidden")
                #expect(answer.text.contains("ask its operator"))
            }
            for path in ["/forgot-password", "/verify-email"] {
                #expect(try await client.send(.get, path).status == 404)
            }
        }
        try await LettersTests.test { client, _ in
            let info = try await client.send(.get, "/v1/server").text
            #expect(info.contains(#""text-descent","mail"]"#))
        }
    }
}
