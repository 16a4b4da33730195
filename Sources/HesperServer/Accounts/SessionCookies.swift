import HTTPTypes
import HesperModel
import Hummingbird

/// Reads session cookies and protects them against cross-site requests (protocol.md, Signing in).
struct SessionCookies: Sendable {
    /// The session cookie of a request. Over TLS, only the cookie named `__Host-hesper` is accepted. Browsers store a cookie of
    /// this name only if this host has set it over TLS.
    func cookie(of request: Request) -> SessionCookie? {
        guard let header = request.headers[.cookie] else { return nil }
        if let cookie = SessionCookie(in: header, name: .secure) { return cookie }
        return request.isSecure ? nil : SessionCookie(in: header, name: .plain)
    }

    /// Rejects cross-site requests. A page of any site can make the browser send the cookie, so requests other than `GET` and
    /// `HEAD` must come from a page of this server.
    /// - Throws: ``Problem`` `cross-site`, also for requests that browsers call `same-site`: those from another port of this host,
    ///   or from another host of the same domain.
    func check(_ request: Request, authenticatedBy cookie: SessionCookie) throws(Problem) {
        guard request.method != .get, request.method != .head else { return }
        if let site = request.headers[.secFetchSite] {
            guard site == "same-origin" else { throw SessionCookies.crossSite }
            return
        }
        // Browsers send a cookie with the prefix `__Host-` only over TLS. The TLS connection ends at this server or at a proxy in
        // front of it. In both cases, the origin of the page begins with https.
        let scheme = cookie.name == .secure ? "https" : "http"
        guard let origin = request.headers[.origin], origin.lowercased() == request.origin(scheme) else {
            throw SessionCookies.crossSite
        }
    }

    /// The name of the session cookie that the response to a sign-in sets.
    ///
    /// If a TLS proxy forwarded the request, but the proxy is not in ``TrustedProxies``, the request seems to use plain HTTP. In
    /// that case, only `Origin` shows that the browser uses TLS.
    /// - Throws: `cross-site` if the page is of another origin. A request without `Origin` and `Sec-Fetch-Site` is accepted,
    ///   because it is not from a browser.
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
    /// The origin of this server according to the host in the request; nil if the request has no host.
    fileprivate func origin(_ scheme: String) -> String? {
        head.authority.map { "\(scheme)://\($0.lowercased())" }
    }
}

extension HTTPField.Name {
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site") ?? .origin
}
