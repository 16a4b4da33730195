import HTTPTypes
import HesperModel
import Hummingbird

/// Reads session cookies and protects them against cross-site requests (protocol.md, Signing in).
struct SessionCookies: Sendable {
    /// The session cookie of a request. Over TLS, only one that no other host and no unencrypted connection can have set.
    func cookie(of request: Request) -> SessionCookie? {
        guard let header = request.headers[.cookie] else { return nil }
        if let cookie = SessionCookie(in: header, name: .secure) { return cookie }
        return request.isSecure ? nil : SessionCookie(in: header, name: .plain)
    }

    /// Rejects cross-site requests: any page can make a browser send a cookie, so requests other than `GET` and `HEAD` must come
    /// from a page of this server.
    /// - Throws: `cross-site`, also for `same-site`: other ports of the host and other hosts of the domain are not trusted.
    func check(_ request: Request, authenticatedBy cookie: SessionCookie) throws(Problem) {
        guard request.method != .get, request.method != .head else { return }
        if let site = request.headers[.secFetchSite] {
            guard site == "same-origin" else { throw SessionCookies.crossSite }
            return
        }
        // Browsers send this cookie only over TLS, to this server or to a proxy.
        let scheme = cookie.name == .secure ? "https" : "http"
        guard let origin = request.headers[.origin], origin.lowercased() == request.origin(scheme) else {
            throw SessionCookies.crossSite
        }
    }

    /// The name of the cookie to set for a page that signs in.
    ///
    /// Behind a TLS proxy that is not trusted, only `Origin` shows that the page was loaded over TLS.
    /// - Throws: `cross-site` for a page of another origin. A client that sends no origin is not a browser, and is not
    ///   restricted.
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
        .crossSite,
        "Cookies are accepted only from pages of this server. Other clients must send \"Authorization: Bearer …\".")
}

extension Request {
    /// The origin of this server as the request addresses it; nil if the request has no host.
    fileprivate func origin(_ scheme: String) -> String? {
        head.authority.map { "\(scheme)://\($0.lowercased())" }
    }
}

extension HTTPField.Name {
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site") ?? .origin
}
