import HesperModel
import HesperStore
import Hummingbird

/// Finds out who asks. Nothing is remembered between requests: a device that was signed out by another process is out.
struct Authenticator: Sendable {
    let store: any Store
    let cookies: SessionCookies

    /// What signs a request.
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

    /// A header that says who asks wins over a cookie, also if it says nothing that holds.
    /// - Throws: `unauthenticated`, the same for no token and for one that does not hold.
    func credential(of request: Request) throws -> Credential {
        if let header = request.headers[.authorization] {
            guard let token = BearerToken(authorization: header) else { throw Authenticator.unauthenticated }
            return .bearer(token)
        }
        guard let cookie = cookies.cookie(of: request) else { throw Authenticator.unauthenticated }
        return .cookie(cookie)
    }

    /// - Throws: `cross-site`, `unauthenticated`, `account-disabled`.
    func session(of request: Request, signedWith credential: Credential) async throws -> Session {
        if case .cookie(let cookie) = credential { try cookies.check(request, signedBy: cookie) }
        guard let session = try await store.session(of: credential.token.hash) else {
            throw Authenticator.unauthenticated
        }
        if session.isDisabled { throw Authenticator.disabled }
        return session
    }

    /// - Throws: `cross-site`, `unauthenticated`, `account-disabled`.
    func session(of request: Request) async throws -> Session {
        try await session(of: request, signedWith: credential(of: request))
    }

    static let disabled = Problem(.accountDisabled, "The server's operator has disabled this account.")
    static let unauthenticated = Problem(
        .unauthenticated, "Send a token that holds, as \"Authorization: Bearer …\".")
}
