import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird
import Logging
import NIOCore

/// Handles every request: assigns an ID, finds the route, authenticates the caller and calls the handler. Afterwards it adds the
/// headers that every response has, compresses the body and logs the request. One function does all this, because a chain of
/// middlewares would be slower.
struct Dispatcher: HTTPResponder {
    let routes: Routes
    let authenticator: Authenticator
    let crossOrigin: CrossOrigin
    let uses: DeviceUses
    /// Whether this server itself terminates TLS.
    let isSecure: Bool
    /// Whether to send `Strict-Transport-Security`. The header is not sent with a self-signed certificate. If that certificate were
    /// lost, browsers that received the header would refuse plain HTTP and a new self-signed certificate for a year, on all ports
    /// of this host.
    let usesStrictTransport: Bool
    let proxies: TrustedProxies
    /// Limits the rate of requests per account. Nil if there is no limit.
    let requests: RateLimiter<UniqueID>?
    let load: Load
    /// Limits how many large request bodies are held in memory at the same time.
    let bodies: Semaphore<ScopeID>

    /// A request, and what is determined while it is processed.
    ///
    /// It is a class, and functions without `await` are not inlined. Both keep the frames of ``respond(to:context:)`` and
    /// ``handle(_:)`` small. Otherwise these frames would take 8 KB. The task of a connection keeps the memory of the frames until
    /// the connection closes, even while an event stream waits for changes.
    private final class RequestState {
        let request: Request
        let channel: any Channel
        let id: RequestIdentity
        /// A logger with the request ID.
        let logger: Logger
        let start = ContinuousClock.now
        /// Whether the server has so many requests that clients should send fewer.
        let isBusy: Bool
        var cachePolicy = Route.CachePolicy.never
        var meter: RouteMeter?
        /// The session of the authenticated caller. Nil before authentication and on open routes.
        var session: Session?
        /// The session cookie that authenticates the request. Nil if there is none.
        var cookie: SessionCookie?
        /// The use of the device by this request; nil if nothing has to be recorded.
        var use: DeviceUse?

        init(_ request: Request, _ context: HesperContext, isBusy: Bool) {
            self.request = request
            channel = context.channel
            self.isBusy = isBusy
            var logger = context.logger
            // Hummingbird stores the request ID under this key in the metadata of its logger.
            let key = "hb.request.id"
            id = RequestIdentity.adopt(
                from: request, or: logger[metadataKey: key]?.description ?? RequestID().description)
            if id.isFromClient { logger[metadataKey: key] = .string(id.text) }
            self.logger = logger
        }

        var sessionLogger: Logger { logger.withSession(session) }
    }

    func respond(to request: Request, context: HesperContext) async throws -> Response {
        let state = begin(request, context)
        defer { load.end() }
        var response: Response
        do {
            response = try await handle(state)
        } catch {
            response = self.response(to: state, failing: error)
        }
        finish(&response, state)
        // Only attachments have immutable responses. These responses are not compressed, because most attachments are compressed
        // already, and because their digests and byte ranges refer to the original bytes.
        if state.cachePolicy != .immutable { try await response.compress(for: state.request) }
        if state.request.method == .head { response = try await response.withoutBody() }
        record(response, state)
        return response
    }

    @inline(never) private func begin(_ request: Request, _ context: HesperContext) -> RequestState {
        let request = proxies.asSent(request, from: context.channel.remoteAddress, isSecure: isSecure)
        return RequestState(request, context, isBusy: load.begin())
    }

    private func handle(_ state: RequestState) async throws -> Response {
        let (path, parameter) = try find(state)
        guard let route = path.route(state.request.method) else { return try options(of: path, state) }
        state.cachePolicy = route.cachePolicy
        state.meter = route.meter
        switch route.handler {
        case .open(let handle), .page(let handle): return try await handle(request(state, parameter, of: route))
        case .authenticated(let handle):
            let credential = try authenticator.credential(of: state.request)
            state.cookie = credential.cookie
            let session = try await authenticator.session(of: state.request, using: credential)
            let caller = AuthenticatedCaller(
                session: session, bodies: bodies, authenticator: authenticator, credential: credential)
            return try await handle(request(state, parameter, of: route, by: caller), session)
        }
    }

    @inline(never) private func find(_ state: RequestState) throws -> (Routes.Path, parameter: String) {
        let uri = state.request.uri.path
        guard let found = routes.find(uri) else {
            throw Problem(.notFound, "The path \(uri.prefix(128)) does not exist. See /docs for all paths.")
        }
        return found
    }

    /// The response to `OPTIONS`.
    /// - Throws: `method-not-allowed` for other methods.
    @inline(never) private func options(of path: Routes.Path, _ state: RequestState) throws -> Response {
        guard state.request.method == .options else {
            throw Problem(
                .methodNotAllowed,
                "The method must be one of \(path.allowed), not \(state.request.method.rawValue).")
        }
        var response = crossOrigin.options(state.request, allowed: path.allowed)
        response.headers.append(contentsOf: path.options)
        return response
    }

    /// Creates the request that is passed to the handler of an open route.
    /// - Throws: the errors of ``Query``.
    @inline(never) private func request(
        _ state: RequestState, _ parameter: String, of route: Route
    ) throws -> APIRequest {
        APIRequest(
            http: state.request, logger: state.logger, query: try route.query(of: state.request), parameter: parameter,
            channel: state.channel, proxies: proxies)
    }

    /// Creates the request that is passed to the handler of an authenticated route.
    /// - Throws: `too-many-requests`; `insufficient-scope` if the route does not accept the access token of the caller; the errors
    ///   of ``Query``.
    @inline(never) private func request(
        _ state: RequestState, _ parameter: String, of route: Route, by caller: AuthenticatedCaller
    ) throws -> APIRequest {
        let session = caller.session
        state.session = session
        if let seconds = requests?.take(session.account) {
            throw Problem.tooManyRequests("This account has exceeded its request rate limit.", retryAfter: seconds)
        }
        state.use = DeviceUse(
            of: session, userAgent: state.request.headers,
            from: proxies.client(of: state.request, from: state.channel.remoteAddress))
        try session.device.access?.check(route.tokens)
        return APIRequest(
            http: state.request, logger: state.logger, caller: caller, query: try route.query(of: state.request),
            parameter: parameter, channel: state.channel, proxies: proxies, use: state.use, cookie: state.cookie)
    }

    @inline(never) private func response(to state: RequestState, failing error: any Error) -> Response {
        var logger = state.sessionLogger
        logger[metadataKey: "method"] = .string(state.request.method.rawValue)
        logger[metadataKey: "path"] = .string(state.request.uri.path)
        let problem = Problem(error, logger: logger)
        var response = problem.response(requestID: state.id.text)
        if problem.slug == .notFound, HTMLPage.isRequested(by: state.request) { response = HTMLPage.notFound }
        if problem.slug == .methodNotAllowed { response.headers[.allow] = allowed(state.request.uri.path) }
        // The cookie is no longer valid, so the browser is told to delete it.
        if problem.slug == .unauthenticated, let cookie = state.cookie { response.headers.append(cookie.deletion) }
        return response
    }

    @inline(never) private func record(_ response: Response, _ state: RequestState) {
        let duration = ContinuousClock.now - state.start
        (state.meter ?? routes.unknown).record(response.status.code, after: duration)
        guard state.logger.logLevel <= .debug else { return }
        state.sessionLogger.debug(
            "Request completed",
            metadata: [
                "method": .string(state.request.method.rawValue), "path": .string(state.request.uri.path),
                "status": .stringConvertible(response.status.code),
                "microseconds": .stringConvertible(Int(duration / .microseconds(1))),
            ])
    }

    private func allowed(_ path: String) -> String { routes.find(path)?.path.allowed ?? "" }

    /// Records the use of the device, and adds the headers that every response has.
    @inline(never) private func finish(_ response: inout Response, _ state: RequestState) {
        let request = state.request
        // The use is recorded even if the handler threw an error, because the device was in use in that case too.
        if let use = state.use, use.isDue { uses.record(use) }
        if state.isBusy, response.status.kind == .successful { response.headers[.retryAfter] = Load.retryAfter }
        response.headers.append(HTTPField(name: .requestID, value: state.id.text))
        if let requests, let session = state.session {
            requests.addFields(to: &response.headers, for: session.account)
        }
        BrowserDefences.add(to: &response.headers)
        if usesStrictTransport, request.isSecure, !request.isToThisMachine { response.headers.append(.strictTransport) }
        var cachePolicy = response.status.code < 400 ? state.cachePolicy : .never
        if let cookie = state.cookie, cookie.isRenewalDue, response.status.kind == .successful,
            response.headers[.setCookie] == nil
        {
            response.headers.append(cookie.renewal)
            // The cookie in the response is a secret, so the response must not be cached.
            cachePolicy = .never
        }
        switch cachePolicy {
        case .revalidated:
            response.headers.append(.revalidated)
            response.headers.append(.varyBySession)
        case .immutable:
            if response.headers[.cacheControl] == nil { response.headers.append(.immutable) }
            response.headers.append(.varyBySession)
        case .never:
            if response.headers[.cacheControl] == nil { response.headers.append(.noStore) }
        case .shared:
            response.headers.append(.noCache)
            response.headers.append(.varyByOrigin)
        case .sameOrigin:
            response.headers.append(.noCache)
            response.headers.append(.varyByCoding)
            return
        }
        crossOrigin.expose(&response, to: request)
    }
}

extension Logger {
    /// A logger that adds the account and the device of a session to every message. Only the IDs of both are logged. Without the
    /// database, these IDs do not identify a user.
    func withSession(_ session: Session?) -> Logger {
        guard let session else { return self }
        var logger = self
        logger[metadataKey: "account"] = .stringConvertible(session.account)
        logger[metadataKey: "device"] = .stringConvertible(session.device.node)
        return logger
    }
}

extension Route {
    /// The query parameters of a request. Empty for pages, which accept any query.
    fileprivate func query(of request: Request) throws(Problem) -> Query {
        guard let text = request.uri.query, !text.isEmpty else { return .empty }
        if case .page = handler { return .empty }
        return try Query(text, known: parameters)
    }
}

extension Request {
    /// Whether the request was sent to localhost. The response to such a request has no `Strict-Transport-Security`, because
    /// browsers apply this header to all ports of a host, and other servers on this machine may not support TLS.
    fileprivate var isToThisMachine: Bool {
        guard let authority = head.authority else { return true }
        let host = authority.prefix { $0 != ":" }.lowercased()
        return host == "localhost" || host.hasSuffix(".localhost")
    }
}

/// Header fields with constant values, which are created and validated only once.
extension HTTPField {
    /// Tells browsers to use only TLS for this host, for one year (RFC 6797).
    fileprivate static let strictTransport = HTTPField(name: .strictTransportSecurity, value: "max-age=31536000")
    fileprivate static let revalidated = HTTPField(name: .cacheControl, value: "private, no-cache")
    fileprivate static let varyBySession = HTTPField(
        name: .vary, value: "Authorization, Cookie, Origin, Accept-Encoding")
    fileprivate static let immutable = HTTPField(
        name: .cacheControl, value: "private, max-age=31536000, immutable")
    fileprivate static let noStore = HTTPField(name: .cacheControl, value: "no-store")
    fileprivate static let noCache = HTTPField(name: .cacheControl, value: "no-cache")
    fileprivate static let varyByOrigin = HTTPField(name: .vary, value: "Origin, Accept-Encoding")
    fileprivate static let varyByCoding = HTTPField(name: .vary, value: "Accept-Encoding")
}

extension HTTPField.Name {
    static let requestID = HTTPField.Name("X-Request-ID") ?? .date
}
