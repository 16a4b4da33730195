internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Sends requests over HTTP with URLSession, without cookies, caches and stored credentials.
///
/// Only `GET` and `HEAD` follow redirects, and only to the same server, because a request contains the token of the
/// session. Any other redirect response is returned to the caller. Streams of events end when the transport is
/// deallocated.
package final class URLSessionTransport: Transport {
    package struct Limits: Sendable {
        /// The maximum time in which no byte is sent or received. A request that exceeds it fails.
        package var silence: Duration = .seconds(60)
        /// The maximum duration of a request. The server waits at most this long for a body of 4 MiB.
        package var total: Duration = .seconds(600)
        /// The maximum time in which no byte of an event stream is received. A stream that exceeds it ends. The server sends a
        /// comment at least every 20 s.
        package var streamSilence: Duration = .seconds(45)
        /// The maximum size of a response body, in bytes. The response to a push contains the objects that the push names (at most
        /// 32 MiB), a page of changes (about 4 MiB), and the results of the push.
        package var bodyBytes = 64 << 20
        /// The maximum number of buffered events. If an event arrives while the buffer is full, the stream ends.
        package var waitingEvents = 64

        package init() {}
    }

    package let server: ServerURL
    private let limits: Limits
    private let exchanges: Exchanges
    private let session: URLSession

    package init(server: ServerURL, limits: Limits = Limits()) {
        self.server = server
        self.limits = limits
        exchanges = Exchanges(server: server, bodyBytes: limits.bodyBytes)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    deinit { session.invalidateAndCancel() }

    package func send(_ request: ServerRequest) async throws(NoResponse) -> ServerResponse {
        guard let urlRequest = urlRequest(request, silence: limits.silence) else {
            throw NoResponse("The path \(request.path) is not valid.")
        }
        let task = session.dataTask(with: urlRequest)
        let deadline = Task { [limits, exchanges] in
            try await Task.sleep(for: limits.total)
            exchanges.fail(task, NoResponse("The request took longer than \(limits.total)."))
        }
        defer { deadline.cancel() }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                exchanges.begin(task, .request(Incoming(), continuation))
                // If the task was cancelled before `begin` was called, `onCancel` found no request to end. The request is then
                // ended here.
                if Task.isCancelled { exchanges.fail(task, .cancelled) } else { task.resume() }
            }
        } onCancel: {
            exchanges.fail(task, .cancelled)
        }
        return try outcome.get()
    }

    package func events(_ request: ServerRequest) -> AsyncThrowingStream<ServerEvent, any Error> {
        let (stream, continuation) = AsyncThrowingStream<ServerEvent, any Error>.makeStream(
            bufferingPolicy: .bufferingOldest(limits.waitingEvents))
        guard var urlRequest = urlRequest(request, silence: limits.streamSilence) else {
            continuation.finish(throwing: NoResponse("The path \(request.path) is not valid."))
            return stream
        }
        urlRequest.setValue("text/event-stream", forHTTPHeaderField: "Accept")
        let task = session.dataTask(with: urlRequest)
        exchanges.begin(task, .stream(Incoming(), EventParser(), continuation))
        continuation.onTermination = { [exchanges] _ in exchanges.abandon(task) }
        task.resume()
        return stream
    }

    private func urlRequest(_ request: ServerRequest, silence: Duration) -> URLRequest? {
        guard let url = server.url(path: request.path) else { return nil }
        var urlRequest = URLRequest(url: url)
        urlRequest.httpMethod = request.method
        // Foundation counts this timeout from the last byte that was sent or received, so it does not limit the duration of the
        // request.
        urlRequest.timeoutInterval =
            TimeInterval(silence.components.seconds)
            + TimeInterval(silence.components.attoseconds) / 1e18
        urlRequest.httpShouldHandleCookies = false
        for (name, value) in request.headers { urlRequest.setValue(value, forHTTPHeaderField: name) }
        if let token = request.token { urlRequest.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        if !request.body.isEmpty { urlRequest.httpBody = Data(request.body) }
        return urlRequest
    }
}

/// The server refused to open a stream of events.
package struct StreamRefused: Error, Equatable {
    package var response: ServerResponse

    package init(response: ServerResponse) { self.response = response }
}

extension NoResponse {
    static let cancelled = NoResponse("The request was cancelled.")

    fileprivate init(_ error: any Error) {
        guard let error = error as? URLError else {
            self.init(error.localizedDescription)
            return
        }
        switch error.code {
        case .timedOut: self.init("The server did not respond in time.")
        case .cannotFindHost, .dnsLookupFailed: self.init("The server's name could not be resolved.")
        case .cannotConnectToHost: self.init("The connection to the server failed.")
        case .networkConnectionLost: self.init("The connection ended before the response did.")
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff: self.init("No network is available.")
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateNotYetValid, .serverCertificateHasUnknownRoot:
            self.init("The server's certificate is not trusted. \(error.localizedDescription)")
        default: self.init("\(error.localizedDescription) (\(error.code.rawValue))")
        }
    }
}

// MARK: - The delegate

/// The part of a response that has arrived.
private struct Incoming {
    var response = ServerResponse(status: 0)
}

/// A request in progress.
private enum Exchange {
    case request(Incoming, CheckedContinuation<Result<ServerResponse, NoResponse>, Never>)
    case stream(Incoming, EventParser, AsyncThrowingStream<ServerEvent, any Error>.Continuation)
}

/// The delegate of URLSession, which passes responses to the requests in progress.
///
/// Continuations are resumed outside the lock, because the resumed code may end another request, which takes the lock again.
private final class Exchanges: NSObject, URLSessionDataDelegate, Sendable {
    private let server: ServerURL
    private let bodyBytes: Int
    /// The requests in progress, by the identifiers of their URLSession tasks.
    private let open = Locked<[Int: Exchange]>([:])

    init(server: ServerURL, bodyBytes: Int) {
        self.server = server
        self.bodyBytes = bodyBytes
    }

    /// The maximum size of the body of a refused stream, in bytes.
    private static let refusalBytes = 64 << 10

    func begin(_ task: URLSessionTask, _ exchange: Exchange) {
        open.withLock { $0[task.taskIdentifier] = exchange }
    }

    /// Ends a request with an error, unless it has already ended.
    func fail(_ task: URLSessionTask, _ reason: NoResponse) {
        let exchange = open.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        task.cancel()
        switch exchange {
        case .request(_, let continuation): continuation.resume(returning: .failure(reason))
        case .stream(_, _, let continuation): continuation.finish(throwing: reason)
        case nil: break
        }
    }

    /// Ends a stream that is no longer read.
    func abandon(_ task: URLSessionTask) {
        open.withLock { $0[task.taskIdentifier] = nil }
        task.cancel()
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard let response = response as? HTTPURLResponse else {
            completionHandler(.cancel)
            return
        }
        let head = ServerResponse(response)
        open.withLock { open in
            switch open[dataTask.taskIdentifier] {
            case .request(_, let continuation):
                open[dataTask.taskIdentifier] = .request(Incoming(response: head), continuation)
            case .stream(_, let parser, let continuation):
                open[dataTask.taskIdentifier] = .stream(Incoming(response: head), parser, continuation)
            case nil: break
            }
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let outcome = open.withLock { receive(data, &$0[dataTask.taskIdentifier]) }
        switch outcome {
        case .more: break
        case .events(let events, let continuation):
            for event in events {
                if case .dropped = continuation.yield(event) {
                    // No event is lost: the next stream starts after the last page that was stored.
                    return fail(dataTask, NoResponse("Too many events are waiting to be read."))
                }
            }
        case .failure(let reason): fail(dataTask, reason)
        }
    }

    private enum Received {
        case more
        case events([ServerEvent], AsyncThrowingStream<ServerEvent, any Error>.Continuation)
        case failure(NoResponse)
    }

    private func receive(_ data: Data, _ exchange: inout Exchange?) -> Received {
        switch exchange {
        case .request(var incoming, let continuation):
            // The array is moved out of the dictionary, so that appending does not copy it.
            exchange = nil
            guard incoming.response.body.count + data.count <= bodyBytes else {
                exchange = .request(incoming, continuation)
                return .failure(NoResponse("The response is larger than \(bodyBytes) bytes."))
            }
            incoming.response.body.append(contentsOf: data)
            exchange = .request(incoming, continuation)
            return .more
        case .stream(var incoming, var parser, let continuation):
            exchange = nil
            defer { exchange = .stream(incoming, parser, continuation) }
            guard incoming.response.isEventStream else {
                incoming.response.body.append(
                    contentsOf: data.prefix(Exchanges.refusalBytes - incoming.response.body.count))
                return .more
            }
            do throws(EventParser.EventTooLarge) {
                return .events(try parser.consume(Array(data)), continuation)
            } catch {
                return .failure(NoResponse("An event is larger than \(error.maximumBytes) bytes."))
            }
        case nil: return .more
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        switch open.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) {
        case .request(let incoming, let continuation):
            continuation.resume(returning: error.map { .failure(NoResponse($0)) } ?? .success(incoming.response))
        case .stream(let incoming, _, let continuation):
            let response = incoming.response
            if response.status != 0, !response.isEventStream {
                continuation.finish(throwing: StreamRefused(response: response))
            } else {
                continuation.finish(throwing: error.map { NoResponse($0) })
            }
        case nil: break
        }
    }

    /// Ends a request whose body would have to be sent again. On Linux, libcurl repeats a request if the server closes a reused
    /// connection without a response. Foundation then does not send the body of the `URLRequest` again, but calls this method to
    /// get a new body. If the request did not fail here, Foundation would call this method repeatedly until the timeout.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
    ) {
        // `fail` cancels the URLSession task. URLSession calls this method on the queue on which it also ends its tasks. Therefore
        // `fail` is called from a separate Swift task.
        Task { fail(task, NoResponse("The connection ended before the response did.")) }
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let isRead = ["GET", "HEAD"].contains(task.originalRequest?.httpMethod ?? "")
        completionHandler(isRead && server.isOrigin(of: request.url) ? request : nil)
    }
}

extension ServerResponse {
    fileprivate init(_ response: HTTPURLResponse) {
        self.init(status: response.statusCode)
        for (name, value) in response.allHeaderFields {
            if let name = name as? String, let value = value as? String { headers[name.lowercased()] = value }
        }
    }

    fileprivate var isEventStream: Bool {
        status == 200 && headers["content-type"]?.lowercased().hasPrefix("text/event-stream") == true
    }
}

extension ServerURL {
    /// Whether a URL has the scheme, host and port of this server.
    fileprivate func isOrigin(of other: URL?) -> Bool {
        guard let other, let scheme = other.scheme?.lowercased(), let host = other.host()?.lowercased() else {
            return false
        }
        func port(_ url: URL) -> Int { url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80) }
        return scheme == url.scheme && host == url.host()?.lowercased() && port(other) == port(url)
    }
}
