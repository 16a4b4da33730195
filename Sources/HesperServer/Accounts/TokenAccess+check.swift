import HesperModel
import HesperStore

extension TokenAccess {
    /// Checks that a token with this access can use a route.
    /// - Parameter rule: the tokens that can use the route; nil if none can.
    /// - Throws: `insufficient-scope`.
    func check(_ rule: Route.TokenRule?) throws(Problem) {
        guard let rule else {
            throw Problem(
                .insufficientScope, "Access tokens cannot be used for this request. Sign in as a device instead.")
        }
        guard tag == nil || rule.isForTagged else {
            throw Problem(
                .insufficientScope,
                """
                This access token is restricted to a tag. It can only be used to read and write single notes, to list notes \
                (GET /v1/notes?sort=…), and to look up its tag (GET /v1/tags?name=…).
                """)
        }
        guard allows(rule.scope) else {
            throw Problem(
                .insufficientScope,
                "This request needs an access token with the scope \"\(rule.scope)\". The token has \"\(scopeNames)\".")
        }
    }
}
