import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird
import Logging
import NIOCore

/// The way of every request: an ID, its route, who asks, the handler; then the headers that every answer has, and a line
/// in the log. One function instead of a chain of middlewares, because a poll that finds nothing new costs little else.
struct Dispatcher: HTTPResponder {
    let routes: Routes
    let authenticator: Authenticator
    let crossOrigin: CrossOrigin
    let uses: DeviceUses
    /// Whether this server speaks TLS itself.
    let isSecure: Bool
    /// Whether browsers are told to stay with TLS. A certificate of our own may be lost: then they would take neither the next one nor
    /// plain HTTP, on any port of this name, for a year.
    let staysSecure: Bool
    let proxies: TrustedProxies
    /// Those of each account; nil for as many as it likes.
    let requests: RateLimiter<UniqueID>?
    let load: Load
    /// Limits concurrent large bodies.
    let bodies: Semaphore<ScopeID>

    /// What is found out about a request on its way, for the headers of its answer and for the log.
    private struct Findings {
        var keeping = Route.Keeping.never
        var meter: RouteMeter?
        /// Who asks, once that is known.
        var session: Session?
        /// What signs it, if a cookie does.
        var cookie: SessionCookie?
    }

    func respond(to request: Request, context: HesperContext) async throws -> Response {
        let request = proxies.asSent(request, from: context.channel.remoteAddress, isSecure: isSecure)
        var logger = context.logger
        // Hummingbird's ID stands in every line of the log already, where the log has any.
        let key = "hb.request.id"
        let requestID = RequestIdentity.adopt(
            from: request, or: logger[metadataKey: key]?.description ?? RequestID().description)
        if requestID.isTheirs { logger[metadataKey: key] = .string(requestID.text) }
        let start = ContinuousClock.now

        let isBusy = load.begin()
        defer { load.end() }
        var findings = Findings()
        var response: Response
        do {
            response = try await answer(request, context.channel, logger, &findings)
        } catch {
            var logger = logger.saying(findings.session)
            logger[metadataKey: "method"] = .string(request.method.rawValue)
            logger[metadataKey: "path"] = .string(request.uri.path)
            let problem = Problem(error, logger: logger)
            response = problem.response(requestID: requestID.text)
            if problem.slug == .methodNotAllowed { response.headers[.allow] = allowed(request.uri.path) }
            // The browser need not bring it again.
            if problem.slug == .unauthenticated, let cookie = findings.cookie { response.headers.append(cookie.taken) }
        }
        if isBusy, response.status.kind == .successful { response.headers[.retryAfter] = Load.retryAfter }
        finish(&response, to: request, requestID: requestID.text, findings)
        // The bytes of attachments go as they are: most are packed already, and their places and digests are told.
        if findings.keeping != .forever { try await response.pack(for: request) }
        if request.method == .head { response = try await response.withoutBody() }
        let duration = ContinuousClock.now - start
        (findings.meter ?? routes.unknown).answered(response.status.code, in: duration)
        if logger.logLevel <= .debug {
            logger.saying(findings.session).debug(
                "answered",
                metadata: [
                    "method": .string(request.method.rawValue), "path": .string(request.uri.path),
                    "status": .stringConvertible(response.status.code),
                    "microseconds": .stringConvertible(Int(duration / .microseconds(1))),
                ])
        }
        return response
    }

    private func answer(
        _ request: Request, _ channel: any Channel, _ logger: Logger, _ findings: inout Findings
    ) async throws -> Response {
        let uri = request.uri.path
        guard let (path, parameter) = routes.find(uri) else {
            throw Problem(.notFound, "There is no \(uri.prefix(128)) here; /docs lists what there is.")
        }
        guard let route = path.route(request.method) else {
            if request.method == .options {
                var response = crossOrigin.options(request, allowed: path.allowed)
                response.headers.append(contentsOf: path.options)
                return response
            }
            throw Problem(.methodNotAllowed, "\(request.method.rawValue) is not among \(path.allowed).")
        }
        findings.keeping = route.keeping
        findings.meter = route.meter
        switch route.handler {
        case .page(let handle):
            return try await handle(
                Call(
                    request: request, logger: logger, query: .empty, parameter: parameter, channel: channel,
                    proxies: proxies))
        case .open(let handle):
            let query = try route.query(of: request)
            return try await handle(
                Call(
                    request: request, logger: logger, query: query, parameter: parameter, channel: channel,
                    proxies: proxies))
        case .signedIn(let handle):
            let credential = try authenticator.credential(of: request)
            findings.cookie = credential.cookie
            let session = try await authenticator.session(of: request, signedWith: credential)
            findings.session = session
            if let seconds = requests?.take(session.account) {
                throw Problem.tooManyRequests("This account asks too much.", retryAfter: seconds)
            }
            let use = DeviceUse(
                of: session, userAgent: request.headers,
                from: proxies.client(of: request, from: channel.remoteAddress))
            // Recorded also if the handler refuses what was asked: the device was there.
            defer { if let use, use.isNews { uses.record(use) } }
            let query = try route.query(of: request)
            return try await handle(
                Call(
                    request: request, logger: logger,
                    signature: Signature(session: session, bodies: bodies) {
                        try await authenticator.session(of: request, signedWith: credential)
                    }, query: query, parameter: parameter,
                    channel: channel, proxies: proxies, use: use, cookie: credential.cookie),
                session)
        }
    }

    private func allowed(_ path: String) -> String { routes.find(path)?.path.allowed ?? "" }

    /// The headers that every answer has.
    private func finish(
        _ response: inout Response, to request: Request, requestID: String, _ findings: Findings
    ) {
        response.headers.append(HTTPField(name: .requestID, value: requestID))
        if let requests, let session = findings.session {
            response.headers.append(contentsOf: requests.fields(of: session.account))
        }
        BrowserDefences.add(to: &response.headers)
        if staysSecure, request.isSecure, !request.isToThisMachine { response.headers.append(.staysSecure) }
        var keeping = response.status.code < 400 ? findings.keeping : .never
        if let cookie = findings.cookie, cookie.isDue, response.status.kind == .successful,
            response.headers[.setCookie] == nil
        {
            response.headers.append(cookie.given)
            // What carries a secret is kept by nobody.
            keeping = .never
        }
        switch keeping {
        case .revalidated:
            response.headers.append(.revalidated)
            response.headers.append(.varyBySession)
        case .forever:
            if response.headers[.cacheControl] == nil { response.headers.append(.keptForever) }
            response.headers.append(.varyBySession)
        case .never:
            if response.headers[.cacheControl] == nil { response.headers.append(.neverKept) }
        case .shared:
            response.headers.append(.shared)
            response.headers.append(.varyByOrigin)
        case .ours:
            response.headers.append(.shared)
            response.headers.append(.varyByCoding)
            return
        }
        crossOrigin.expose(&response, to: request)
    }
}

extension Logger {
    /// The same, whose lines say who asks: by IDs, which tell nothing to whoever has no database.
    func saying(_ session: Session?) -> Logger {
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
    /// Whether it names the machine that it comes from. What a browser keeps of that name is for all its ports, and other
    /// servers there may have no TLS.
    fileprivate var isToThisMachine: Bool {
        guard let authority = head.authority else { return true }
        let host = authority.prefix { $0 != ":" }.lowercased()
        return host == "localhost" || host.hasSuffix(".localhost")
    }
}

/// Headers that always say the same are made, and found legal, once.
extension HTTPField {
    /// Browsers ask for this host over TLS alone, for a year from now (RFC 6797).
    fileprivate static let staysSecure = HTTPField(name: .strictTransportSecurity, value: "max-age=31536000")
    fileprivate static let revalidated = HTTPField(name: .cacheControl, value: "private, no-cache")
    fileprivate static let varyBySession = HTTPField(
        name: .vary, value: "Authorization, Cookie, Origin, Accept-Encoding")
    fileprivate static let keptForever = HTTPField(
        name: .cacheControl, value: "private, max-age=31536000, immutable")
    fileprivate static let neverKept = HTTPField(name: .cacheControl, value: "no-store")
    fileprivate static let shared = HTTPField(name: .cacheControl, value: "no-cache")
    fileprivate static let varyByOrigin = HTTPField(name: .vary, value: "Origin, Accept-Encoding")
    fileprivate static let varyByCoding = HTTPField(name: .vary, value: "Accept-Encoding")
}

extension HTTPField.Name {
    static let requestID = HTTPField.Name("X-Request-ID") ?? .date
}
