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

    // MARK: The value of the cookie

    @Test func setCookieHeaders() throws {
        let token = try #require(BearerToken(Substring(SessionCookieTests.token)))
        let value =
            "\(SessionCookieTests.token).\(SessionCookieTests.today); Max-Age=34560000; Path=/; HttpOnly; SameSite=Strict"
        #expect(SessionCookie(token, name: .plain).renewal.value == "hesper=" + value)
        #expect(SessionCookie(token, name: .secure).renewal.value == "__Host-hesper=" + value + "; Secure")
        #expect(
            SessionCookie(token, name: .secure).deletion.value
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
    ]) func parsing(_ header: String, _ isValid: Bool) {
        let header = header.replacing("%", with: SessionCookieTests.token)
        let cookie = SessionCookie(in: header, name: .plain)
        #expect((cookie != nil) == isValid)
        #expect(cookie == nil || cookie?.token.text == SessionCookieTests.token)
    }

    @Test(arguments: [(0, false), (-1, true), (1, true), (-399, true)])
    func renewalIsDueOnceADay(_ days: Int64, _ isDue: Bool) throws {
        let header = "hesper=\(SessionCookieTests.token).\(SessionCookieTests.today + days)"
        #expect(try #require(SessionCookie(in: header, name: .plain)).isRenewalDue == isDue)
    }

    // MARK: Which cookie is accepted

    @Test(
        arguments: [
            (true, "hesper=%.1", nil), (true, "__Host-hesper=%.1", .secure),
            (true, "hesper=%.1; __Host-hesper=%.1", .secure),
            (false, "hesper=%.1", .plain), (false, "__Host-hesper=%.1", .secure),
            (false, "hesper=%.1; __Host-hesper=%.1", .secure),
        ] as [(Bool, String, SessionCookie.Name?)])
    func acceptedCookies(_ isSecure: Bool, _ header: String, _ name: SessionCookie.Name?) {
        let header = header.replacing("%", with: SessionCookieTests.token)
        let found = SessionCookies().cookie(
            of: SessionCookieTests.request(.get, [.cookie: header], scheme: isSecure ? "https" : "http"))
        #expect(found?.name == name)
    }

    // MARK: Which requests are accepted

    struct Sender: Sendable, CustomTestStringConvertible {
        var site: String?
        var origin: String?
        /// The name of the cookie that it sends.
        var name = SessionCookie.Name.plain
        var isAllowed: Bool
        /// The name of the cookie that is set for it; nil if it is refused.
        var newCookie: SessionCookie.Name?

        var testDescription: String { "\(site ?? "-") \(origin ?? "-") \(name.rawValue)" }

        var headers: HTTPFields {
            var headers = HTTPFields()
            headers[.secFetchSite] = site
            headers[.origin] = origin
            return headers
        }
    }

    static let senders = [
        Sender(site: "same-origin", isAllowed: true, newCookie: .plain),
        Sender(site: "same-origin", origin: "http://notes.example:8080", isAllowed: true, newCookie: .plain),
        // Behind a proxy that uses another host name for this server.
        Sender(
            site: "same-origin", origin: "https://elsewhere.example", name: .secure, isAllowed: true, newCookie: .secure
        ),
        Sender(site: "same-site", isAllowed: false), Sender(site: "cross-site", isAllowed: false),
        Sender(site: "none", isAllowed: false), Sender(site: "", isAllowed: false),
        Sender(site: "Same-Origin", isAllowed: false), Sender(site: "same-origin, cross-site", isAllowed: false),
        // Sec-Fetch-Site decides, whatever Origin is.
        Sender(site: "same-site", origin: "http://notes.example:8080", isAllowed: false),
        Sender(site: "none", origin: "http://notes.example:8080", isAllowed: false),
        // Without Sec-Fetch-Site.
        Sender(origin: "http://notes.example:8080", isAllowed: true, newCookie: .plain),
        Sender(origin: "HTTP://Notes.Example:8080", isAllowed: true, newCookie: .plain),
        Sender(origin: "https://notes.example:8080", name: .secure, isAllowed: true, newCookie: .secure),
        Sender(origin: "https://notes.example:8080", isAllowed: false, newCookie: .secure),
        Sender(origin: "http://notes.example:8080", name: .secure, isAllowed: false, newCookie: .plain),
        Sender(origin: "http://notes.example:8081", isAllowed: false),
        Sender(origin: "http://notes.example", isAllowed: false),
        Sender(origin: "http://other.example:8080", isAllowed: false), Sender(origin: "null", isAllowed: false),
        Sender(origin: "", isAllowed: false),
        Sender(origin: "http://notes.example:8080.evil.example", isAllowed: false),
        // Not a browser: a cookie can be set, but is not accepted without Origin.
        Sender(isAllowed: false, newCookie: .plain),
    ]

    @Test(arguments: senders) func requestsWithACookie(_ sender: Sender) throws {
        let token = try #require(BearerToken(Substring(SessionCookieTests.token)))
        let cookies = SessionCookies()
        let cookie = SessionCookie(token, name: sender.name)
        for method: HTTPRequest.Method in [.post, .put, .patch, .delete] {
            let request = SessionCookieTests.request(method, sender.headers)
            let isAllowed = (try? cookies.check(request, authenticatedBy: cookie)) != nil
            #expect(isAllowed == sender.isAllowed, "\(method)")
        }
        for method: HTTPRequest.Method in [.get, .head] {
            try cookies.check(SessionCookieTests.request(method, sender.headers), authenticatedBy: cookie)
        }
    }

    @Test(arguments: senders) func newCookies(_ sender: Sender) {
        let request = SessionCookieTests.request(.post, sender.headers)
        #expect((try? SessionCookies().name(for: request)) == sender.newCookie)
    }

    @Test(arguments: [("https://notes.example:8080", true), ("http://notes.example:8080", false), (nil, true)])
    func newCookiesOverTLS(_ origin: String?, _ isAllowed: Bool) {
        var headers = HTTPFields()
        headers[.origin] = origin
        let name = try? SessionCookies().name(for: SessionCookieTests.request(.post, headers, scheme: "https"))
        #expect(name == (isAllowed ? .secure : nil))
    }

    @Test func aRequestWithoutAHostIsCrossSite() throws {
        let token = try #require(BearerToken(Substring(SessionCookieTests.token)))
        let request = SessionCookieTests.request(.post, [.origin: "http://"], host: nil)
        #expect(throws: Problem(.crossSite, "")) {
            try SessionCookies().check(request, authenticatedBy: SessionCookie(token, name: .plain))
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

    // MARK: Over HTTP

    private static let sameOrigin: HTTPFields = [.secFetchSite: "same-origin"]

    /// Signs a page up, and returns its header `Cookie` and its device.
    private static func page(_ client: TestClient) async throws -> (cookie: String, device: String) {
        let body = #"{"email":"a@example.org","password":"\#(TestClient.password)","deviceName":"page","cookie":true}"#
        let response = try await client.send(.post, "/v1/accounts", body, headers: sameOrigin)
        #expect(response.status == 201)
        #expect(!response.text.contains("hesper_"))
        #expect(response.headers[.cacheControl] == "no-store")
        let cookie = try #require(response.headers[.setCookie]).prefix { $0 != ";" }
        return (String(cookie), try response.json.member("device").member("uniqueID").string)
    }

    @Test func theCookieIsRenewedOnceADay() async throws {
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
                #expect(later.headers[.cacheControl] == "no-store", "a response with a secret must not be cached")
            }
            // Not with an error.
            let missing = try await client.send(
                .get, "/v1/notes/00000000-0000-4000-8000-000000000000", headers: [.cookie: String(old)])
            #expect(missing.status == 404 && missing.headers[.setCookie] == nil)
        }
    }

    @Test func aCookieOfASignedOutDeviceIsDeleted() async throws {
        try await TestServer.test { client in
            let (cookie, device) = try await SessionCookieTests.page(client)
            let phone = try await client.signedIn("a@example.org")
            #expect(try await phone.send(.delete, "/v1/devices/\(device)").status == 204)
            let response = try await client.send(.get, "/v1/account", headers: [.cookie: cookie])
            #expect(response.status == 401)
            #expect(response.headers[.setCookie] == "hesper=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict")
            // A cookie that is not from this server is not deleted.
            let other = try await client.send(.get, "/v1/account", headers: [.cookie: "hesper=another"])
            #expect(other.status == 401 && other.headers[.setCookie] == nil)
        }
    }

    /// A wrong password does not affect the current session.
    @Test func aWrongPasswordDeletesNoCookie() async throws {
        try await TestServer.test { client in
            let (cookie, _) = try await SessionCookieTests.page(client)
            let body = #"{"email":"a@example.org","password":"wrong","deviceName":"page","cookie":true}"#
            let response = try await client.send(
                .post, "/v1/devices", body, headers: [.cookie: cookie, .secFetchSite: "same-origin"])
            #expect(response.status == 401 && response.headers[.setCookie] == nil)
        }
    }

    @Test func aBearerTokenTakesPrecedence() async throws {
        try await TestServer.test { client in
            let (cookie, _) = try await SessionCookieTests.page(client)
            let other = try await client.signedUp("b@example.org")
            let both = try await other.send(.get, "/v1/account", headers: [.cookie: cookie])
            #expect(try both.json.member("email").string == "b@example.org")
            // From any site: browsers do not send bearer tokens by themselves.
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
