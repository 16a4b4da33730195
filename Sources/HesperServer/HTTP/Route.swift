import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// One method of one path, with its handler.
final class Route: Sendable {
    /// The handler of a route. The case determines which authentication the route requires.
    enum Handler: Sendable {
        /// The route requires no authentication.
        case open(@Sendable (APIRequest) async throws -> Response)
        /// The route requires no authentication and accepts any query, because other sites add their own parameters to links to
        /// pages.
        case page(@Sendable (APIRequest) async throws -> Response)
        /// The route requires the token or the session cookie of a device, or an access token that ``Route/tokens`` permits.
        case authenticated(@Sendable (APIRequest, Session) async throws -> Response)
    }

    /// The access tokens that can use a route (protocol.md, Access tokens).
    struct TokenRule: Sendable, Equatable {
        /// The scope that the token must have.
        let scope: TokenAccess.Scope
        /// Whether tokens that are restricted to a tag can use the route, too. The handler of such a route must apply
        /// ``NoteRestriction``.
        let isForTagged: Bool

        static let append = TokenRule(scope: .append, isForTagged: false)
        static let read = TokenRule(scope: .read, isForTagged: false)
        static let write = TokenRule(scope: .write, isForTagged: false)
        static let appendTagged = TokenRule(scope: .append, isForTagged: true)
        static let readTagged = TokenRule(scope: .read, isForTagged: true)
        static let writeTagged = TokenRule(scope: .write, isForTagged: true)
    }

    /// How successful responses may be cached (protocol.md, HTTP rules). Error responses are never cached.
    enum CachePolicy: Sendable {
        /// Only the client may cache the response, and it must revalidate the cached response before each use.
        case revalidated
        /// Only the client may cache the response. It need not revalidate the cached response, because the content never changes.
        case immutable
        /// The response must not be cached, for example the response to a sign-in or a sync.
        case never
        /// Shared caches, such as those of proxies, may store the response too, because it is the same for everyone. All caches
        /// must revalidate the response before each use.
        case shared
        /// Like ``shared``, but only pages of this origin may read the response, so `Vary: Origin` is not needed. With this header,
        /// a browser would download each JavaScript module twice: a page requests modules with an `Origin` header, and the service
        /// worker requests the same modules without it.
        case sameOrigin
    }

    let method: HTTPRequest.Method
    /// The path template, as in `openapi.yaml`: `/v1/notes/{uniqueID}`.
    let path: String
    /// The names of the query parameters that the route accepts. A request with any other parameter is refused.
    let parameters: [String]
    let cachePolicy: CachePolicy
    /// The access tokens that can use the route; nil if none can.
    let tokens: TokenRule?
    /// Whether the route is in `openapi.yaml`. False for pages that are not part of the API.
    let isInContract: Bool
    let handler: Handler
    /// Counts the requests of the route and measures how long they take.
    let meter: RouteMeter

    init(
        method: HTTPRequest.Method, path: String, parameters: [String], cachePolicy: CachePolicy, isInContract: Bool,
        tokens: TokenRule? = nil, handler: Handler
    ) {
        self.method = method
        self.path = path
        self.parameters = parameters
        self.cachePolicy = cachePolicy
        self.isInContract = isInContract
        self.tokens = tokens
        self.handler = handler
        meter = RouteMeter(method: method.rawValue, path: path)
    }
}
