import HTTPTypes
import HesperModel
import Hummingbird
import NIOCore
import Testing

@testable import HesperServer

/// protocol.md, Signing in: cookies.
@Suite struct SessionCookieTests {
    private static let token = "hesper_" + String(repeating: "A", count: 43)
    private static let today = Timestamp.now.milliseconds / Timestamp.day

    // MARK: The cookie itself

    @Test func whatTheBrowserIsTold() throws {
        let token = try #require(BearerToken(Substring(SessionCookieTests.token)))
        let value =
            "\(SessionCookieTests.token).\(SessionCookieTests.today); Max-Age=34560000; Path=/; HttpOnly; SameSite=Strict"
        #expect(SessionCookie(token, name: .plain).given.value == "hesper=" + value)
        #expect(SessionCookie(token, name: .secure).given.value == "__Host-hesper=" + value + "; Secure")
        #expect(
            SessionCookie(token, name: .secure).taken.value
                == "__Host-hesper=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict; Secure")
    }

    @Test(arguments: [
        ("hesper=%.20000", true), ("theme=dark; hesper=%.20000; x=y", true), ("a=b;hesper=%.20000", true),
        ("hesper=junk; hesper=%.20000", true), ("hesper=%.0", true),
        ("hesper=%", false), ("hesper=%.", false), ("hesper=%.-1", false), ("hesper=%.20000.1", false),
        ("hesper=%.1234567", false), ("hesper=%.2x", false), ("hesper=x%.20000", false), ("hesper=", false),
        ("", false),
        ("xhesper=%.20000", false), ("hesperx=%.20000", false), ("Hesper=%.20000", false),
        ("__Host-hesper=%.20000", false), ("hesper", false),
    ]) func reading(_ header: String, _ isOurs: Bool) {
        let header = header.replacing("%", with: SessionCookieTests.token)
        let cookie = SessionCookie(in: header, name: .plain)
        #expect((cookie != nil) == isOurs)
        #expect(cookie == nil || cookie?.token.text == SessionCookieTests.token)
    }

    @Test(arguments: [(0, false), (-1, true), (1, true), (-399, true)])
    func onceADayItIsDue(_ days: Int64, _ isDue: Bool) throws {
        let header = "hesper=\(SessionCookieTests.token).\(SessionCookieTests.today + days)"
        #expect(try #require(SessionCookie(in: header, name: .plain)).isDue == isDue)
    }

    // MARK: Which is taken

    @Test(
        arguments: [
            (true, "hesper=%.1", nil), (true, "__Host-hesper=%.1", .secure),
            (true, "hesper=%.1; __Host-hesper=%.1", .secure),
            (false, "hesper=%.1", .plain), (false, "__Host-hesper=%.1", .secure),
            (false, "hesper=%.1; __Host-hesper=%.1", .secure),
        ] as [(Bool, String, SessionCookie.Name?)])
    func taking(_ isSecure: Bool, _ header: String, _ name: SessionCookie.Name?) {
        let header = header.replacing("%", with: SessionCookieTests.token)
        let found = SessionCookies().cookie(
            of: SessionCookieTests.request(.get, [.cookie: header], scheme: isSecure ? "https" : "http"))
        #expect(found?.name == name)
    }

    // MARK: From whom

    struct Sender: Sendable, CustomTestStringConvertible {
        var site: String?
        var origin: String?
        /// Of the cookie that it sends.
        var name = SessionCookie.Name.plain
        var mayChange: Bool
        /// The name of the cookie that it is given, with TLS at a proxy at most; nil if it is refused one.
        var given: SessionCookie.Name?

        var testDescription: String { "\(site ?? "-") \(origin ?? "-") \(name.rawValue)" }

        var headers: HTTPFields {
            var headers = HTTPFields()
            headers[.secFetchSite] = site
            headers[.origin] = origin
            return headers
        }
    }

    static let senders = [
        Sender(site: "same-origin", mayChange: true, given: .plain),
        Sender(site: "same-origin", origin: "http://notes.example:8080", mayChange: true, given: .plain),
        // Behind a proxy that has another name for this server.
        Sender(
            site: "same-origin", origin: "https://elsewhere.example", name: .secure, mayChange: true, given: .secure),
        Sender(site: "same-site", mayChange: false), Sender(site: "cross-site", mayChange: false),
        Sender(site: "none", mayChange: false), Sender(site: "", mayChange: false),
        Sender(site: "Same-Origin", mayChange: false), Sender(site: "same-origin, cross-site", mayChange: false),
        // The header says it, whatever stands beside it.
        Sender(site: "same-site", origin: "http://notes.example:8080", mayChange: false),
        Sender(site: "none", origin: "http://notes.example:8080", mayChange: false),
        // Without it.
        Sender(origin: "http://notes.example:8080", mayChange: true, given: .plain),
        Sender(origin: "HTTP://Notes.Example:8080", mayChange: true, given: .plain),
        Sender(origin: "https://notes.example:8080", name: .secure, mayChange: true, given: .secure),
        Sender(origin: "https://notes.example:8080", mayChange: false, given: .secure),
        Sender(origin: "http://notes.example:8080", name: .secure, mayChange: false, given: .plain),
        Sender(origin: "http://notes.example:8081", mayChange: false),
        Sender(origin: "http://notes.example", mayChange: false),
        Sender(origin: "http://other.example:8080", mayChange: false), Sender(origin: "null", mayChange: false),
        Sender(origin: "", mayChange: false),
        Sender(origin: "http://notes.example:8080.evil.example", mayChange: false),
        // No browser: it can be given one, and must say who it is to use it.
        Sender(mayChange: false, given: .plain),
    ]

    @Test(arguments: senders) func changing(_ sender: Sender) throws {
        let token = try #require(BearerToken(Substring(SessionCookieTests.token)))
        let cookies = SessionCookies()
        let cookie = SessionCookie(token, name: sender.name)
        for method: HTTPRequest.Method in [.post, .put, .patch, .delete] {
            let request = SessionCookieTests.request(method, sender.headers)
            let isAllowed = (try? cookies.check(request, signedBy: cookie)) != nil
            #expect(isAllowed == sender.mayChange, "\(method)")
        }
        for method: HTTPRequest.Method in [.get, .head] {
            try cookies.check(SessionCookieTests.request(method, sender.headers), signedBy: cookie)
        }
    }

    @Test(arguments: senders) func beingGivenOne(_ sender: Sender) {
        let request = SessionCookieTests.request(.post, sender.headers)
        #expect((try? SessionCookies().name(for: request)) == sender.given)
    }

    @Test(arguments: [("https://notes.example:8080", true), ("http://notes.example:8080", false), (nil, true)])
    func overTLS(_ origin: String?, _ isAllowed: Bool) {
        var headers = HTTPFields()
        headers[.origin] = origin
        let name = try? SessionCookies().name(for: SessionCookieTests.request(.post, headers, scheme: "https"))
        #expect(name == (isAllowed ? .secure : nil))
    }

    @Test func aRequestWithoutAHostIsNobodysOwn() throws {
        let token = try #require(BearerToken(Substring(SessionCookieTests.token)))
        let request = SessionCookieTests.request(.post, [.origin: "http://"], host: nil)
        #expect(throws: Problem(.crossSite, "")) {
            try SessionCookies().check(request, signedBy: SessionCookie(token, name: .plain))
        }
    }

    private static func request(
        _ method: HTTPRequest.Method, _ headers: HTTPFields, host: String? = "notes.example:8080",
        scheme: String = "http"
    ) -> Request {
        Request(
            head: HTTPRequest(method: method, scheme: scheme, authority: host, path: "/v1/sync", headerFields: headers),
            body: .init(buffer: ByteBuffer()))
    }

    // MARK: On its way

    private static let own: HTTPFields = [.secFetchSite: "same-origin"]

    /// Signs a page up and tells what `Cookie` it sends from then on, and its device.
    private static func page(_ client: TestClient) async throws -> (cookie: String, device: String) {
        let body = #"{"email":"a@example.org","password":"\#(TestClient.password)","deviceName":"page","cookie":true}"#
        let answer = try await client.send(.post, "/v1/accounts", body, headers: own)
        #expect(answer.status == 201)
        #expect(!answer.text.contains("hesper_"))
        #expect(answer.headers[.cacheControl] == "no-store")
        let cookie = try #require(answer.headers[.setCookie]).prefix { $0 != ";" }
        return (String(cookie), try answer.json.member("device").member("uniqueID").string)
    }

    @Test func itIsGivenAgainOnceADay() async throws {
        try await TestServer.test { client in
            let (cookie, _) = try await SessionCookieTests.page(client)
            let days = try #require(cookie.split(separator: ".").last)
            let old = cookie.dropLast(days.count) + "20000"
            for (path, method) in [("/v1/account", HTTPRequest.Method.get), ("/v1/sync", .post)] {
                let body = method == .post ? "{}" : nil
                let today = try await client.send(
                    method, path, body, headers: [.cookie: cookie, .secFetchSite: "same-origin"])
                #expect(today.status == 200 && today.headers[.setCookie] == nil)
                let later = try await client.send(
                    method, path, body, headers: [.cookie: String(old), .secFetchSite: "same-origin"])
                #expect(later.headers[.setCookie]?.hasPrefix(cookie + "; Max-Age=34560000;") == true)
                #expect(later.headers[.cacheControl] == "no-store", "a secret that is kept by nobody")
            }
            // Not with what went wrong, and not with what is kept already.
            let missing = try await client.send(
                .get, "/v1/notes/00000000-0000-4000-8000-000000000000", headers: [.cookie: String(old)])
            #expect(missing.status == 404 && missing.headers[.setCookie] == nil)
        }
    }

    @Test func oneThatNoLongerHoldsIsTaken() async throws {
        try await TestServer.test { client in
            let (cookie, device) = try await SessionCookieTests.page(client)
            let phone = try await client.signedIn("a@example.org")
            #expect(try await phone.send(.delete, "/v1/devices/\(device)").status == 204)
            let answer = try await client.send(.get, "/v1/account", headers: [.cookie: cookie])
            #expect(answer.status == 401)
            #expect(answer.headers[.setCookie] == "hesper=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict")
            // What is no cookie of ours is nobody's business.
            let other = try await client.send(.get, "/v1/account", headers: [.cookie: "hesper=another"])
            #expect(other.status == 401 && other.headers[.setCookie] == nil)
        }
    }

    /// A wrong password says nothing about the session there is.
    @Test func aWrongPasswordTakesNoCookie() async throws {
        try await TestServer.test { client in
            let (cookie, _) = try await SessionCookieTests.page(client)
            let body = #"{"email":"a@example.org","password":"wrong","deviceName":"page","cookie":true}"#
            let answer = try await client.send(
                .post, "/v1/devices", body, headers: [.cookie: cookie, .secFetchSite: "same-origin"])
            #expect(answer.status == 401 && answer.headers[.setCookie] == nil)
        }
    }

    @Test func bearerWins() async throws {
        try await TestServer.test { client in
            let (cookie, _) = try await SessionCookieTests.page(client)
            let other = try await client.signedUp("b@example.org")
            let both = try await other.send(.get, "/v1/account", headers: [.cookie: cookie])
            #expect(try both.json.member("email").string == "b@example.org")
            // From wherever: what a bearer token signs, no browser sends by itself.
            let push = try await other.send(
                .post, "/v1/sync", "{}", headers: [.cookie: cookie, .secFetchSite: "cross-site"])
            #expect(push.status == 200)
            for header in ["Bearer \(SessionCookieTests.token)", "Basic YTpi", ""] {
                let none = try await client.send(
                    .get, "/v1/account", headers: [.cookie: cookie, .authorization: header])
                #expect(none.status == 401 && none.headers[.setCookie] == nil, "\(header)")
            }
        }
    }
}
