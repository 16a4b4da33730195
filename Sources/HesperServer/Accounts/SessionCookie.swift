import HTTPTypes
import HesperModel
import Hummingbird

/// The session token of a page, stored by the browser where no script can read it (protocol.md, Signing in).
///
/// Its value is the token and the day on which it was set, as days since 1970: `hesper_….20789`. So it can be renewed without a
/// database lookup, and its lifetime starts again. A client that changes the day only changes when the cookie is renewed.
struct SessionCookie: Sendable {
    let token: BearerToken
    let name: Name
    private let day: Int64

    enum Name: String, Sendable {
        /// Over TLS. Browsers accept a cookie with this prefix only over TLS and from the exact host (RFC 6265bis, 4.1.3).
        case secure = "__Host-hesper"
        /// Over plain HTTP.
        case plain = "hesper"

        fileprivate var attributes: String {
            "Path=/; HttpOnly; SameSite=Strict" + (self == .secure ? "; Secure" : "")
        }
    }

    /// The lifetime in seconds: 400 days, the maximum that browsers allow (RFC 6265bis, 5.5).
    static let maxAge = 400 * 86_400

    private static var today: Int64 { Timestamp.now.milliseconds / Timestamp.day }

    init(_ token: BearerToken, name: Name) {
        self.token = token
        self.name = name
        day = SessionCookie.today
    }

    /// Finds the cookie of this name in the header `Cookie`. Nil if it is missing or cannot be a cookie of this server.
    init?(in header: String, name: Name) {
        for pair in header.split(separator: ";") {
            let pair = pair.trimmed
            guard pair.hasPrefix(name.rawValue), pair.dropFirst(name.rawValue.count).first == "=" else { continue }
            let parts = pair.dropFirst(name.rawValue.count + 1).split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, let token = BearerToken(parts[0]), parts[1].utf8.count <= 6,
                let day = Int64(parts[1]), day >= 0
            else { continue }
            self.token = token
            self.name = name
            self.day = day
            return
        }
        return nil
    }

    /// Whether it was not set today.
    var isRenewalDue: Bool { day != SessionCookie.today }

    /// Sets the cookie, with a new lifetime.
    var renewal: HTTPField {
        HTTPField(
            name: .setCookie,
            value:
                "\(name.rawValue)=\(token.text).\(SessionCookie.today); Max-Age=\(SessionCookie.maxAge); \(name.attributes)"
        )
    }

    /// Deletes the cookie.
    var deletion: HTTPField {
        HTTPField(name: .setCookie, value: "\(name.rawValue)=; Max-Age=0; \(name.attributes)")
    }

    /// Deletes the cookie and everything else that the browser stores for this server, so that the next person at this browser
    /// cannot read what a page has stored.
    ///
    /// `"cookies"` is left out: it would also sign out of other services on the same host or domain.
    var signOutFields: HTTPFields { [.setCookie: deletion.value, .clearSiteData: #""cache", "storage""#] }
}

extension HTTPField.Name {
    static let clearSiteData = HTTPField.Name("Clear-Site-Data") ?? .setCookie
}
