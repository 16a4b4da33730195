import HTTPTypes
import HesperModel
import Hummingbird

/// The token of a page's session, kept by the browser where no script can read it (protocol.md, Signing in).
///
/// Its value is the token and the day, counted from 1970, on which the browser was given it: `hesper_….20789`. So it is known
/// without a look into the store when it has to be given again, for its time to begin anew. Whoever changes the day has no more than
/// a cookie that is given again sooner or later.
struct SessionCookie: Sendable {
    let token: BearerToken
    let name: Name
    private let day: Int64

    enum Name: String, Sendable {
        /// Over TLS: the prefix has the browser take it from no other host, and over nothing else (RFC 6265bis, 4.1.3).
        case secure = "__Host-hesper"
        /// Over plain HTTP.
        case plain = "hesper"

        fileprivate var attributes: String {
            "Path=/; HttpOnly; SameSite=Strict" + (self == .secure ? "; Secure" : "")
        }
    }

    /// 400 days, which is as long as a browser keeps one (RFC 6265bis, 5.5).
    static let maxAge = 400 * 86_400

    private static var today: Int64 { Timestamp.now.milliseconds / Timestamp.day }

    init(_ token: BearerToken, name: Name) {
        self.token = token
        self.name = name
        day = SessionCookie.today
    }

    /// The one of this name among what a browser sent; nil for anything that this server never gave out.
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

    /// Whether the browser has had it since another day.
    var isDue: Bool { day != SessionCookie.today }

    /// Has the browser keep it, from now on.
    var given: HTTPField {
        HTTPField(
            name: .setCookie,
            value:
                "\(name.rawValue)=\(token.text).\(SessionCookie.today); Max-Age=\(SessionCookie.maxAge); \(name.attributes)"
        )
    }

    /// Has the browser forget it.
    var taken: HTTPField {
        HTTPField(name: .setCookie, value: "\(name.rawValue)=; Max-Age=0; \(name.attributes)")
    }

    /// Has the browser forget it and all else that it keeps of this server: what a page holds is not for who comes next.
    ///
    /// Not `"cookies"`: that would sign the person out of everything that runs on the same host or domain.
    var erased: HTTPFields { [.setCookie: taken.value, .clearSiteData: #""cache", "storage""#] }
}

extension HTTPField.Name {
    static let clearSiteData = HTTPField.Name("Clear-Site-Data") ?? .setCookie
}
