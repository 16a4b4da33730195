import HesperModel
import HesperStore
import Hummingbird

/// Authenticates requests. Sessions are not cached, so that a device that another process signed out is rejected immediately.
struct Authenticator: Sendable {
    let store: any Store
    let cookies: SessionCookies

    /// The credential of a request.
    enum Credential: Sendable {
        case bearer(BearerToken)
        case cookie(SessionCookie)

        var token: BearerToken {
            switch self {
            case .bearer(let token): token
            case .cookie(let cookie): cookie.token
            }
        }

        var cookie: SessionCookie? {
            if case .cookie(let cookie) = self { cookie } else { nil }
        }
    }

    /// The credential of a request: the token in the header `Authorization`, or the session cookie if the request has no such
    /// header.
    /// - Throws: `unauthenticated` if the credential is missing or does not have the form of a token.
    func credential(of request: Request) throws -> Credential {
        if let header = request.headers[.authorization] {
            guard let token = BearerToken(authorization: header) else { throw Authenticator.unauthenticated }
            return .bearer(token)
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
        return session
    }

    /// Finds the credential of a request and returns its session.
    /// - Throws: `cross-site`, `unauthenticated`, `account-disabled`.
    func session(of request: Request) async throws -> Session {
        try await session(of: request, using: credential(of: request))
    }

    static let disabled = Problem(.accountDisabled, "The server's operator has disabled this account.")
    static let unauthenticated = Problem(
        .unauthenticated, "A valid token is required. Send it as \"Authorization: Bearer …\".")
}
