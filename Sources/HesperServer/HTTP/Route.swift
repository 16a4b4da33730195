import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// One method of one path, and what answers it.
struct Route: Sendable {
    /// Who may ask.
    enum Handler: Sendable {
        /// Anybody.
        case open(@Sendable (Call) async throws -> Response)
        /// Anybody, whatever stands after the `?`: others add to the addresses of pages what means something to them alone.
        case page(@Sendable (Call) async throws -> Response)
        /// Whoever holds the token of a device.
        case signedIn(@Sendable (Call, Session) async throws -> Response)
    }

    /// What may be kept of an answer by whoever carries it (protocol.md, HTTP rules). Errors are never kept.
    enum Keeping: Sendable {
        /// By the client alone, which asks each time whether it is still good.
        case revalidated
        /// By the client alone, for ever: what never changes.
        case forever
        /// By nobody: sign-in and sync.
        case never
        /// By everybody: pages that say the same to all.
        case shared
        /// By everybody, for our own pages alone. With `Vary: Origin` a browser would ask again for what it has: a page's modules
        /// are asked for with `Origin`, by the worker that keeps them without.
        case ours
    }

    let method: HTTPRequest.Method
    /// As the contract writes it: `/v1/notes/{uniqueID}`.
    let path: String
    /// The names of its query parameters; others are refused.
    let parameters: [String]
    let keeping: Keeping
    /// False for pages that are no part of the API.
    let isInContract: Bool
    let handler: Handler
    /// How it goes.
    let meter: RouteMeter

    init(
        method: HTTPRequest.Method, path: String, parameters: [String], keeping: Keeping, isInContract: Bool,
        handler: Handler
    ) {
        self.method = method
        self.path = path
        self.parameters = parameters
        self.keeping = keeping
        self.isInContract = isInContract
        self.handler = handler
        meter = RouteMeter(method: method.rawValue, path: path)
    }
}
