import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// One method of one path, with its handler.
struct Route: Sendable {
    /// A handler, by the authentication that the route requires.
    enum Handler: Sendable {
        /// None.
        case open(@Sendable (APIRequest) async throws -> Response)
        /// None, and any query is accepted: other sites add their own parameters to links to pages.
        case page(@Sendable (APIRequest) async throws -> Response)
        /// The token of a device.
        case authenticated(@Sendable (APIRequest, Session) async throws -> Response)
    }

    /// How responses may be cached (protocol.md, HTTP rules). Errors are never stored.
    enum CachePolicy: Sendable {
        /// By the client only, and revalidated each time.
        case revalidated
        /// By the client only, without revalidation: the content never changes.
        case immutable
        /// Not at all: sign-in and sync.
        case never
        /// By shared caches too: pages that are the same for everyone.
        case shared
        /// Like ``shared``, but only for pages of this origin, so without `Vary: Origin`. With it, a browser would download files
        /// twice: a page requests modules with `Origin`, and the service worker that caches them without.
        case sameOrigin
    }

    let method: HTTPRequest.Method
    /// The path template, as in the contract: `/v1/notes/{uniqueID}`.
    let path: String
    /// The names of its query parameters. Others are rejected.
    let parameters: [String]
    let cachePolicy: CachePolicy
    /// False for pages that are not part of the API.
    let isInContract: Bool
    let handler: Handler
    /// Counts requests and their durations.
    let meter: RouteMeter

    init(
        method: HTTPRequest.Method, path: String, parameters: [String], cachePolicy: CachePolicy, isInContract: Bool,
        handler: Handler
    ) {
        self.method = method
        self.path = path
        self.parameters = parameters
        self.cachePolicy = cachePolicy
        self.isInContract = isInContract
        self.handler = handler
        meter = RouteMeter(method: method.rawValue, path: path)
    }
}
