import HTTPTypes
import HesperModel
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOHTTPTypesHTTP2

/// Enforces the limits of one connection. If headers or path are too long, a body arrives too slowly, or a request is not valid
/// HTTP, responds with the reason and closes the connection. Closes connections whose clients do not read the response.
///
/// This handler is placed between the HTTP codec and Hummingbird's handlers, which would close such connections without a response.
/// An HTTP/2 connection has one guard for each of its streams, and each stream has only one request. ``HTTP2Connection`` enforces
/// the limits of the whole HTTP/2 connection.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// How long a connection stays open after its last response, so that the response arrives before the connection closes.
    static let linger = TimeAmount.seconds(2)

    private let limits: ConnectionLimits
    /// Whether the head of a request has arrived and the end of its body has not arrived yet.
    private var isReading = false
    /// The number of bytes of the body that have arrived since `bodyDeadline` was set.
    private var progress = 0
    /// The number of requests whose response is not complete yet.
    private var open = 0
    /// The error that is sent before the connection is closed; nil if there is none. It is sent as soon as no response is in
    /// progress. No further request is read.
    private var refusal: Problem?
    private var closesAfterResponse = false
    private var bodyDeadline: Scheduled<Void>?
    private var stallDeadline: Scheduled<Void>?
    private var lingering: Scheduled<Void>?
    /// Runs if the client disconnects before the response to its request is complete.
    private var disconnectHandler: DisconnectHandler?
    private var isInputClosed = false
    private var isStream = false
    /// The head of an HTTP/2 request without `Content-Length`. It is passed on as soon as it is known whether the request has a
    /// body.
    private var pendingHead: HTTPRequest?
    private let permits: ConnectionPermits
    /// The address for which this handler took a connection permit; nil if it took none.
    private var permitHolder: ClientAddress?
    private let unparsedBytes = UnparsedByteLimit()

    init(limits: ConnectionLimits, permits: ConnectionPermits) {
        self.limits = limits
        self.permits = permits
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        guard let codec = try? pipeline.handler(type: HTTP1ToHTTPServerCodec.self) else {
            isStream = true
            return
        }
        try? pipeline.addHandler(MessageFraming(), position: .before(codec))
        if let decoder = try? pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self) {
            try? pipeline.addHandler(unparsedBytes, position: .before(decoder))
        }
        // With TLS, no permit is taken here, because ``ConnectionPermit`` took one before the handshake.
        if (try? pipeline.handler(type: ConnectionPermit.self)) != nil { return }
        let address = ClientAddress(context.channel.remoteAddress)
        guard permits.tryAcquire(address) else {
            return refuse(.tooManyConnections(limits.perAddress), context: context)
        }
        permitHolder = address
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        if let permitHolder { permits.release(permitHolder) }
        permitHolder = nil
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unparsedBytes.reset()
        guard refusal == nil else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            if let problem = problem(with: head) { return refuse(problem, context: context) }
            isReading = true
            open += 1
            if isStream, head.headerFields[.contentLength] == nil {
                pendingHead = head
                return
            }
        case .body(let bytes):
            passPendingHead(hasBody: true, context: context)
            progress += bytes.readableBytes
        case .end:
            passPendingHead(hasBody: false, context: context)
            isReading = false
            bodyDeadline?.cancel()
            bodyDeadline = nil
        }
        context.fireChannelRead(data)
    }

    /// Passes on ``pendingHead``, if there is one. If the request has a body, its length is unknown. The header `Transfer-Encoding`
    /// is then set to `chunked`, as in HTTP/1.1, so that later handlers need not distinguish the HTTP versions.
    private func passPendingHead(hasBody: Bool, context: ChannelHandlerContext) {
        guard var head = pendingHead else { return }
        pendingHead = nil
        if hasBody { head.headerFields[.transferEncoding] = "chunked" }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        passPendingHead(hasBody: true, context: context)
        // The timer is set only after all received data was processed. Most requests are complete by then and need no timer.
        if isReading, bodyDeadline == nil { setBodyDeadline(context) }
        context.fireChannelReadComplete()
    }

    private func setBodyDeadline(_ context: ChannelHandlerContext) {
        progress = 0
        bodyDeadline = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(Int64(limits.bodySeconds))) {
            self.bodyTimedOut(context: context)
        }
    }

    private func problem(with head: HTTPRequest) -> Problem? {
        if let path = head.path, path.utf8.count > limits.uriBytes {
            return Problem(
                .uriTooLong, "Path and query must have at most \(limits.uriBytes) bytes.",
                context: ["limit": .integer(Int64(limits.uriBytes))])
        }
        let bytes = head.headerFields.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
        return bytes > Limits.headerBytes ? .headersTooLarge : nil
    }

    private func bodyTimedOut(context: ChannelHandlerContext) {
        bodyDeadline = nil
        guard isReading else { return }
        // The timeout starts again if enough bytes of the body have arrived since the timer was set.
        if progress >= limits.bodyBytes { return setBodyDeadline(context) }
        closesAfterResponse = true
        if open == 0 { return context.close(promise: nil) }
        // The handler that reads the body receives this error instead of the next part, and sends the error as the response.
        context.fireErrorCaught(
            Problem(
                .requestTimeout,
                "The body arrived too slowly: fewer than \(limits.bodyBytes) bytes in \(limits.bodySeconds) seconds."))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard refusal == nil else { return }
        switch error {
        case let error as HTTPParserError where !isReading:
            let isOverflow = error == .headerOverflow
            refuse(
                isOverflow
                    ? .headersTooLarge
                    : Problem(.malformedRequest, "The request is not valid HTTP/1.1 (RFC 9112): \(error)."),
                context: context)
        case let problem as Problem where !isReading: refuse(problem, context: context)
        case is HTTP1TypeConversionError where !isReading:
            refuse(Problem(.malformedRequest, "The request line or headers are invalid."), context: context)
        default:
            closesAfterResponse = true
            context.fireErrorCaught(error)
        }
    }

    // MARK: Responses

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where isReading && head.status.kind != .informational:
            // The response begins before the whole body of the request has arrived. The rest of the body is not read.
            closesAfterResponse = true
            head.headerFields[.connection] = "close"
            context.write(wrapOutboundOut(.head(fitting(head))), promise: promise)
        case .head(let head) where isStream:
            context.write(wrapOutboundOut(.head(fitting(head))), promise: promise)
        case .head, .body:
            context.write(data, promise: promise)
        case .end:
            context.write(data, promise: isStream ? timed(promise, context: context) : promise)
            open -= 1
            disconnectHandler = nil
            if open == 0, let refusal { send(refusal, context: context) } else if closesAfterResponse { end(context) }
        }
    }

    /// Returns the promise for writing the end of a response to an HTTP/2 stream. Closes the stream if the promise is not completed
    /// in time.
    ///
    /// The deadline that ``channelWritabilityChanged(context:)`` sets is not enough. If the rest of the response fits into a buffer
    /// of NIO, that method is not called, even if the client has stopped reading.
    private func timed(_ promise: EventLoopPromise<Void>?, context: ChannelHandlerContext) -> EventLoopPromise<Void> {
        let sent = promise ?? context.eventLoop.makePromise()
        let deadline = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(Int64(limits.stallSeconds))) {
            context.close(promise: nil)
        }
        sent.futureResult.assumeIsolated().whenComplete { _ in deadline.cancel() }
        return sent
    }

    /// Removes headers about the connection, which HTTP/2 does not allow (RFC 9113, 8.2.2).
    private func fitting(_ head: HTTPResponse) -> HTTPResponse {
        guard isStream else { return head }
        var head = head
        head.headerFields[.connection] = nil
        head.headerFields[.transferEncoding] = nil
        return head
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        if let handler = event as? DisconnectHandler {
            if isInputClosed { handler.run() } else { disconnectHandler = handler }
            promise?.succeed()
            return
        }
        guard let interim = event as? InterimResponse else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        // 100 Continue is not sent if the whole request has arrived, because the client no longer waits for it.
        if isReading || interim.isSentAfterRequest {
            context.writeAndFlush(wrapOutboundOut(.head(interim.head)), promise: promise)
        } else {
            promise?.succeed()
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        stallDeadline?.cancel()
        stallDeadline = nil
        if !context.channel.isWritable {
            stallDeadline = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(Int64(limits.stallSeconds))) {
                context.close(promise: nil)
            }
        }
        context.fireChannelWritabilityChanged()
    }

    // MARK: Close

    private func refuse(_ problem: Problem, context: ChannelHandlerContext) {
        refusal = problem
        if open == 0 { send(problem, context: context) }
    }

    private func send(_ problem: Problem, context: ChannelHandlerContext) {
        let requestID = String(UInt64.random(in: .min ... .max), radix: 16)
        var head = problem.response(requestID: requestID).head
        head.headerFields[.requestID] = requestID
        head.headerFields[.connection] = "close"
        head.headerFields[.cacheControl] = "no-store"
        BrowserDefences.add(to: &head.headerFields)
        context.write(wrapOutboundOut(.head(fitting(head))), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(bytes: problem.bytes(requestID: requestID)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        end(context)
    }

    private func end(_ context: ChannelHandlerContext) {
        guard lingering == nil else { return }
        lingering = context.eventLoop.assumeIsolated().scheduleTask(in: ConnectionGuard.linger) { [isStream] in
            if isStream {
                // The response is complete, so the rest of the request is not needed (RFC 9113, 8.1).
                context.triggerUserOutboundEvent(NIOHTTP2FramePayloadToHTTPEvent.reset(code: .noError), promise: nil)
            } else {
                context.close(promise: nil)
            }
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The client may have closed the connection, or only its sending side. Event streams are ended now. All other responses
        // are completed, because the client may still read them.
        if let event = event as? ChannelEvent, event == .inputClosed { runDisconnectHandler() }
        context.fireUserInboundEventTriggered(event)
    }

    private func runDisconnectHandler() {
        isInputClosed = true
        disconnectHandler?.run()
        disconnectHandler = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        runDisconnectHandler()
        lingering?.cancel()
        bodyDeadline?.cancel()
        stallDeadline?.cancel()
        context.fireChannelInactive()
    }
}

extension Problem {
    static func tooManyConnections(_ limit: Int) -> Problem {
        .tooManyRequests("One address may have at most \(limit) open connections.", retryAfter: 10)
    }

    static let headersTooLarge = Problem(
        .headersTooLarge, "Headers must have at most \(Limits.headerBytes) bytes.",
        context: ["limit": .integer(Int64(Limits.headerBytes))])
}
