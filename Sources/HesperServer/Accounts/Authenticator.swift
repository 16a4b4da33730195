import HesperModel
import HesperStore
import Hummingbird

/// Authenticates requests. For each request, the session is looked up in the store. Sessions are not cached, because another
/// process may sign a device out, and the next request of this device must be rejected.
struct Authenticator: Sendable {
    let store: any Store
    let cookies: SessionCookies

    /// The credential of a request.
    enum Credential: Sendable {
        case bearer(BearerToken)
        case cookie(SessionCookie)
        /// An access token that a program sends as the password of HTTP Basic. Some programs cannot send a token in another way.
        case basic(BearerToken)

        var token: BearerToken {
            switch self {
            case .bearer(let token), .basic(let token): token
            case .cookie(let cookie): cookie.token
            }
        }

        var cookie: SessionCookie? {
            if case .cookie(let cookie) = self { cookie } else { nil }
        }
    }

    /// The credential of a request: the token in the header `Authorization`, or the session cookie if the request has no such
    /// header.
    /// - Throws: `unauthenticated` if the credential is missing or does not have the form of a token; `cross-site` if a web page
    ///   used HTTP Basic.
    func credential(of request: Request) throws -> Credential {
        if let header = request.headers[.authorization] {
            if let token = BearerToken(authorization: header) { return .bearer(token) }
            guard let token = BearerToken(basic: header) else { throw Authenticator.unauthenticated }
            try Authenticator.checkBasic(request)
            return .basic(token)
        }
        guard let cookie = cookies.cookie(of: request) else { throw Authenticator.unauthenticated }
        return .cookie(cookie)
    }

    /// The session of the device that the credential authenticates.
    /// - Throws: `cross-site`, `unauthenticated`, `account-disabled`.
    func session(of request: Request, using credential: Credential) async throws -> Session {
        if case .cookie(let cookie) = credential { try cookies.check(request, authenticatedBy: cookie) }
        guard let session = try await store.session(of: credential.token.hash) else {
            throw Authenticator.unauthenticated
        }
        if session.isDisabled { throw Authenticator.disabled }
        if let access = session.device.access {
            if let date = access.expiryDate, access.isExpired(at: .now) {
                throw Problem(.unauthenticated, "The access token expired on \(date). Create a new token.")
            }
        } else if case .basic = credential {
            // HTTP Basic is not accepted with the token of a device. Users often write credentials for HTTP Basic into scripts.
            // With the token of a device, a script would have access to the whole account, and the list of devices would not show
            // the script.
            throw Problem(
                .unauthenticated, "HTTP Basic is accepted only with an access token. Create one with POST /v1/tokens.")
        }
        return session
    }

    /// Refuses HTTP Basic in requests that have an `Origin` header or come from a page of another origin. A browser remembers the
    /// credentials of HTTP Basic and adds them to all later requests to this server, even if a page of another site causes the
    /// request.
    /// - Throws: `cross-site`.
    private static func checkBasic(_ request: Request) throws(Problem) {
        let site = request.headers[.secFetchSite]
        guard request.headers[.origin] == nil, site == nil || site == "none" || site == "same-origin" else {
            throw Problem(
                .crossSite, "HTTP Basic is not accepted from web pages. Send \"Authorization: Bearer …\".")
        }
    }

    /// Finds the credential of a request, and returns the session that belongs to the credential.
    /// - Throws: `cross-site`, `unauthenticated`, `account-disabled`.
    func session(of request: Request) async throws -> Session {
        try await session(of: request, using: credential(of: request))
    }

    static let disabled = Problem(.accountDisabled, "The server's operator has disabled this account.")
    static let unauthenticated = Problem(
        .unauthenticated, "A valid token is required. Send it as \"Authorization: Bearer …\".")
}
