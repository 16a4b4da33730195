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

    /// Data about a request that is determined while the request is processed. It is used for the response headers, the log and the
    /// metrics.
    private struct RequestState {
        var cachePolicy = Route.CachePolicy.never
        var meter: RouteMeter?
        /// The session of the authenticated caller. Nil before authentication and on open routes.
        var session: Session?
        /// The session cookie that authenticates the request. Nil if there is none.
        var cookie: SessionCookie?
    }

    func respond(to request: Request, context: HesperContext) async throws -> Response {
        let request = proxies.asSent(request, from: context.channel.remoteAddress, isSecure: isSecure)
        var logger = context.logger
        // Hummingbird stores the request ID under this key in the metadata of its logger.
        let key = "hb.request.id"
        let requestID = RequestIdentity.adopt(
            from: request, or: logger[metadataKey: key]?.description ?? RequestID().description)
        if requestID.isFromClient { logger[metadataKey: key] = .string(requestID.text) }
        let start = ContinuousClock.now

        let isBusy = load.begin()
        defer { load.end() }
        var state = RequestState()
        var response: Response
        do {
            response = try await handle(request, context.channel, logger, &state)
        } catch {
            var logger = logger.withSession(state.session)
            logger[metadataKey: "method"] = .string(request.method.rawValue)
            logger[metadataKey: "path"] = .string(request.uri.path)
            let problem = Problem(error, logger: logger)
            response = problem.response(requestID: requestID.text)
            if problem.slug == .notFound, HTMLPage.isRequested(by: request) { response = HTMLPage.notFound }
            if problem.slug == .methodNotAllowed { response.headers[.allow] = allowed(request.uri.path) }
            // The cookie is no longer valid, so the browser is told to delete it.
            if problem.slug == .unauthenticated, let cookie = state.cookie { response.headers.append(cookie.deletion) }
        }
        if isBusy, response.status.kind == .successful { response.headers[.retryAfter] = Load.retryAfter }
        finish(&response, to: request, requestID: requestID.text, state)
        // Only attachments have immutable responses. These responses are not compressed, because most attachments are compressed
        // already, and because their digests and byte ranges refer to the original bytes.
        if state.cachePolicy != .immutable { try await response.compress(for: request) }
        if request.method == .head { response = try await response.withoutBody() }
        let duration = ContinuousClock.now - start
        (state.meter ?? routes.unknown).record(response.status.code, after: duration)
        if logger.logLevel <= .debug {
            logger.withSession(state.session).debug(
                "Request completed",
                metadata: [
                    "method": .string(request.method.rawValue), "path": .string(request.uri.path),
                    "status": .stringConvertible(response.status.code),
                    "microseconds": .stringConvertible(Int(duration / .microseconds(1))),
                ])
        }
        return response
    }

    private func handle(
        _ request: Request, _ channel: any Channel, _ logger: Logger, _ state: inout RequestState
    ) async throws -> Response {
        let uri = request.uri.path
        guard let (path, parameter) = routes.find(uri) else {
            throw Problem(.notFound, "The path \(uri.prefix(128)) does not exist. See /docs for all paths.")
        }
        guard let route = path.route(request.method) else {
            if request.method == .options {
                var response = crossOrigin.options(request, allowed: path.allowed)
                response.headers.append(contentsOf: path.options)
                return response
            }
            throw Problem(
                .methodNotAllowed, "The method must be one of \(path.allowed), not \(request.method.rawValue).")
        }
        state.cachePolicy = route.cachePolicy
        state.meter = route.meter
        switch route.handler {
        case .page(let handle):
            return try await handle(
                APIRequest(
                    http: request, logger: logger, query: .empty, parameter: parameter, channel: channel,
                    proxies: proxies))
        case .open(let handle):
            let query = try route.query(of: request)
            return try await handle(
                APIRequest(
                    http: request, logger: logger, query: query, parameter: parameter, channel: channel,
                    proxies: proxies))
        case .authenticated(let handle):
            let credential = try authenticator.credential(of: request)
            state.cookie = credential.cookie
            let session = try await authenticator.session(of: request, using: credential)
            state.session = session
            if let seconds = requests?.take(session.account) {
                throw Problem.tooManyRequests("This account has exceeded its request rate limit.", retryAfter: seconds)
            }
            let use = DeviceUse(
                of: session, userAgent: request.headers,
                from: proxies.client(of: request, from: channel.remoteAddress))
            // The use is recorded even if the handler throws, because the device was in use in that case too.
            defer { if let use, use.isDue { uses.record(use) } }
            try session.device.access?.check(route.tokens)
            let query = try route.query(of: request)
            return try await handle(
                APIRequest(
                    http: request, logger: logger,
                    caller: AuthenticatedCaller(session: session, bodies: bodies) {
                        try await authenticator.session(of: request, using: credential)
                    }, query: query, parameter: parameter,
                    channel: channel, proxies: proxies, use: use, cookie: credential.cookie),
                session)
        }
    }

    private func allowed(_ path: String) -> String { routes.find(path)?.path.allowed ?? "" }

    /// Adds the headers that every response has.
    private func finish(
        _ response: inout Response, to request: Request, requestID: String, _ state: RequestState
    ) {
        response.headers.append(HTTPField(name: .requestID, value: requestID))
        if let requests, let session = state.session {
            response.headers.append(contentsOf: requests.fields(of: session.account))
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
    fileprivate func query(of request: Request) throws(Problem) -> Query {
        guard let text = request.uri.query, !text.isEmpty else { return .empty }
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
