import HTTPTypes
import HesperModel
import Hummingbird

/// Which cookies are taken and given, and from whom (protocol.md, Signing in).
struct SessionCookies: Sendable {
    /// The cookie that a request brought. Over TLS only one that no other host and no plain HTTP can have set.
    func cookie(of request: Request) -> SessionCookie? {
        guard let header = request.headers[.cookie] else { return nil }
        if let cookie = SessionCookie(in: header, name: .secure) { return cookie }
        return request.isSecure ? nil : SessionCookie(in: header, name: .plain)
    }

    /// Lets a request pass that its cookie signs: anybody may make a browser send that, so whatever changes something must come
    /// from a page of ours.
    /// - Throws: `cross-site`. Also for `same-site`: other ports of a host, and other hosts of a domain, are strangers.
    func check(_ request: Request, signedBy cookie: SessionCookie) throws(Problem) {
        guard request.method != .get, request.method != .head else { return }
        if let site = request.headers[.secFetchSite] {
            guard site == "same-origin" else { throw SessionCookies.crossSite }
            return
        }
        // The browser sends this name over TLS alone, be it ours or that of a proxy.
        let scheme = cookie.name == .secure ? "https" : "http"
        guard let origin = request.headers[.origin], origin.lowercased() == request.origin(scheme) else {
            throw SessionCookies.crossSite
        }
    }

    /// Under which name a page is given the cookie that it signs in for.
    ///
    /// Behind a proxy that speaks TLS and is not trusted the browser is who knows: it tells the origin of the page.
    /// - Throws: `cross-site` for another's page. What names no origin is no browser, and may do to itself what it likes.
    func name(for request: Request) throws(Problem) -> SessionCookie.Name {
        let origin = request.headers[.origin]?.lowercased()
        let isOverTLS = request.isSecure || origin?.hasPrefix("https://") == true
        if let site = request.headers[.secFetchSite] {
            guard site == "same-origin" else { throw SessionCookies.crossSite }
        } else if let origin, origin != request.origin(isOverTLS ? "https" : "http") {
            throw SessionCookies.crossSite
        }
        return isOverTLS ? .secure : .plain
    }

    private static let crossSite = Problem(
        .crossSite, "With a cookie, this is for pages of this server alone. Others send \"Authorization: Bearer …\".")
}

extension Request {
    /// The origin of a page that asks its own server; nil if the request does not say whom it asks.
    fileprivate func origin(_ scheme: String) -> String? {
        head.authority.map { "\(scheme)://\($0.lowercased())" }
    }
}

extension HTTPField.Name {
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site") ?? .origin
}
