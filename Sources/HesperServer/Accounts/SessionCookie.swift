import HTTPTypes
import HesperModel
import Hummingbird

/// A cookie by which a browser is signed in as a device. It contains the device's token, and scripts cannot read it (protocol.md,
/// Signing in).
///
/// The value is the token and the day on which the cookie was set, in days since 1970: `hesper_….20789`. The server sets the cookie
/// again once a day, to extend its lifetime. The day shows whether this is necessary, so no database lookup is needed. A client can
/// forge the day, but this affects only its own cookie.
struct SessionCookie: Sendable {
    let token: BearerToken
    let name: Name
    private let day: Int64

    enum Name: String, Sendable {
        /// The name of the cookie over TLS. Browsers accept a cookie with the prefix `__Host-` only over TLS and from the exact host
        /// (RFC 6265bis, 4.1.3).
        case secure = "__Host-hesper"
        /// The name of the cookie over plain HTTP.
        case plain = "hesper"

        fileprivate var attributes: String {
            "Path=/; HttpOnly; SameSite=Strict" + (self == .secure ? "; Secure" : "")
        }
    }

    /// The lifetime of the cookie in seconds: 400 days, the maximum that browsers allow (RFC 6265bis, 5.5).
    static let maxAge = 400 * 86_400

    private static var today: Int64 { Timestamp.now.milliseconds / Timestamp.day }

    init(_ token: BearerToken, name: Name) {
        self.token = token
        self.name = name
        day = SessionCookie.today
    }

    /// Finds the cookie with this name in the header `Cookie`. Nil if there is no such cookie, or if its value cannot be from
    /// this server.
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

    /// Whether the cookie should be set again, because it was not set today.
    var isRenewalDue: Bool { day != SessionCookie.today }

    /// The header field that sets the cookie again, with a new lifetime.
    var renewal: HTTPField {
        HTTPField(
            name: .setCookie,
            value:
                "\(name.rawValue)=\(token.text).\(SessionCookie.today); Max-Age=\(SessionCookie.maxAge); \(name.attributes)"
        )
    }

    /// The header field that deletes the cookie.
    var deletion: HTTPField {
        HTTPField(name: .setCookie, value: "\(name.rawValue)=; Max-Age=0; \(name.attributes)")
    }

    /// The header fields that delete the cookie and all other data that the browser stores for this server, so that the next user
    /// of this browser cannot read data that a page has stored.
    ///
    /// `Clear-Site-Data` does not contain `"cookies"`, because this would also sign the user out of other services on the same
    /// host or domain.
    var signOutFields: HTTPFields { [.setCookie: deletion.value, .clearSiteData: #""cache", "storage""#] }
}

extension HTTPField.Name {
    static let clearSiteData = HTTPField.Name("Clear-Site-Data") ?? .setCookie
}
