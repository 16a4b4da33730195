import HesperModel
import HesperStore
import Hummingbird

/// Finds out who asks. Nothing is remembered between requests: a device that was signed out by another process is out.
struct Authenticator: Sendable {
    let store: any Store

    /// - Throws: `unauthenticated`, the same for no token and for one that does not hold.
    func session(of request: Request) throws -> Session {
        guard let header = request.headers[.authorization], let token = BearerToken(authorization: header),
            let session = try store.session(of: token.hash)
        else {
            throw Authenticator.unauthenticated
        }
        return session
    }

    static let unauthenticated = Problem(
        .unauthenticated, "Send a token that holds, as \"Authorization: Bearer …\".")
}
