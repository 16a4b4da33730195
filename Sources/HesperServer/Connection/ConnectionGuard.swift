import HTTPTypes
import HesperModel
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOHTTPTypesHTTP2

/// Keeps one connection within its limits and says why when it cannot: headers and address too long, a body that takes
/// too long, what is not HTTP, an answer that nobody takes.
///
/// It stands between the HTTP codec and Hummingbird's own handlers, which end such connections without a word. Of HTTP/2 it
/// guards one stream, which has one request; ``HTTP2Connection`` guards the rest.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// How long a connection stays open after its last answer, so that the answer arrives before the end does.
    static let linger = TimeAmount.seconds(2)

    private let limits: ConnectionLimits
    /// Between a request's head and its end.
    private var isReading = false
    /// Bytes of the body that came since its deadline was set.
    private var progress = 0
    /// Requests that are not answered to their end.
    private var open = 0
    /// Said when nothing else is being answered; after it, no request is read.
    private var refusal: Problem?
    private var closesAfterAnswer = false
    private var bodyDeadline: Scheduled<Void>?
    private var stallDeadline: Scheduled<Void>?
    private var lingering: Scheduled<Void>?
    /// To be said when the client goes before its answer is whole.
    private var farewell: Farewell?
    private var isInputClosed = false
    private var isStream = false
    /// Of a stream whose request tells no length: what comes next shows whether there is a body.
    private var waitingHead: HTTPRequest?
    private let permits: ConnectionPermits
    /// Where it is from, if it was counted here.
    private var counted: ClientAddress?
    private let wire = WireCount()

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
            try? pipeline.addHandler(wire, position: .before(decoder))
        }
        // Over TLS it was counted before the handshake.
        if (try? pipeline.handler(type: ConnectionPermit.self)) != nil { return }
        let address = ClientAddress(context.channel.remoteAddress)
        guard permits.tryAcquire(address) else {
            return refuse(.tooManyConnections(limits.perAddress), context: context)
        }
        counted = address
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        if let counted { permits.release(counted) }
        counted = nil
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        wire.partCameOut()
        guard refusal == nil else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            if let problem = problem(with: head) { return refuse(problem, context: context) }
            isReading = true
            open += 1
            if isStream, head.headerFields[.contentLength] == nil {
                waitingHead = head
                return
            }
        case .body(let bytes):
            passWaitingHead(hasBody: true, context: context)
            progress += bytes.readableBytes
        case .end:
            passWaitingHead(hasBody: false, context: context)
            isReading = false
            bodyDeadline?.cancel()
            bodyDeadline = nil
        }
        context.fireChannelRead(data)
    }

    /// A body of unknown length is told as HTTP/1.1 tells it, so that nobody else has to know the difference.
    private func passWaitingHead(hasBody: Bool, context: ChannelHandlerContext) {
        guard var head = waitingHead else { return }
        waitingHead = nil
        if hasBody { head.headerFields[.transferEncoding] = "chunked" }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        passWaitingHead(hasBody: true, context: context)
        // Most requests are here whole by now and need no timer.
        if isReading, bodyDeadline == nil { setBodyDeadline(context) }
        context.fireChannelReadComplete()
    }

    private func setBodyDeadline(_ context: ChannelHandlerContext) {
        progress = 0
        bodyDeadline = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(Int64(limits.bodySeconds))) {
            self.bodyIsLate(context: context)
        }
    }

    private func problem(with head: HTTPRequest) -> Problem? {
        if let path = head.path, path.utf8.count > limits.uriBytes {
            return Problem(
                .uriTooLong, "Path and query have at most \(limits.uriBytes) bytes here.",
                context: ["limit": .integer(Int64(limits.uriBytes))])
        }
        let bytes = head.headerFields.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
        return bytes > Limits.headerBytes ? .headersTooLarge : nil
    }

    private func bodyIsLate(context: ChannelHandlerContext) {
        bodyDeadline = nil
        guard isReading else { return }
        // A long body may take its time, as long as it moves on.
        if progress >= limits.bodyBytes { return setBodyDeadline(context) }
        closesAfterAnswer = true
        if open == 0 { return context.close(promise: nil) }
        // Whoever reads the body gets this instead of its next part, and answers with it.
        context.fireErrorCaught(
            Problem(.requestTimeout, "The body was not complete after \(limits.bodySeconds) seconds."))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard refusal == nil else { return }
        switch error {
        case let error as HTTPParserError where !isReading:
            let isOverflow = error == .headerOverflow
            refuse(
                isOverflow
                    ? .headersTooLarge
                    : Problem(.malformedRequest, "This is not HTTP/1.1 as RFC 9112 has it: \(error)."),
                context: context)
        case let problem as Problem where !isReading: refuse(problem, context: context)
        case is HTTP1TypeConversionError where !isReading:
            refuse(Problem(.malformedRequest, "The head of the request cannot be read."), context: context)
        default:
            closesAfterAnswer = true
            context.fireErrorCaught(error)
        }
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where isReading && head.status.kind != .informational:
            // Answered before its body was read: the rest of it is not worth reading.
            closesAfterAnswer = true
            head.headerFields[.connection] = "close"
            context.write(wrapOutboundOut(.head(fitting(head))), promise: promise)
        case .head(let head) where isStream:
            context.write(wrapOutboundOut(.head(fitting(head))), promise: promise)
        case .head, .body:
            context.write(data, promise: promise)
        case .end:
            context.write(data, promise: isStream ? timed(promise, context: context) : promise)
            open -= 1
            farewell = nil
            if open == 0, let refusal { say(refusal, context: context) } else if closesAfterAnswer { end(context) }
        }
    }

    /// Of a stream whose client takes nothing NIO says that it can be written to, as long as the answer is short enough to wait for
    /// the client here: all of it must be gone in the time in which some of a longer one must.
    private func timed(_ promise: EventLoopPromise<Void>?, context: ChannelHandlerContext) -> EventLoopPromise<Void> {
        let sent = promise ?? context.eventLoop.makePromise()
        let deadline = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(Int64(limits.stallSeconds))) {
            context.close(promise: nil)
        }
        sent.futureResult.assumeIsolated().whenComplete { _ in deadline.cancel() }
        return sent
    }

    /// Without what is about a connection, which a stream has no business with (RFC 9113, 8.2.2).
    private func fitting(_ head: HTTPResponse) -> HTTPResponse {
        guard isStream else { return head }
        var head = head
        head.headerFields[.connection] = nil
        head.headerFields[.transferEncoding] = nil
        return head
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        if let farewell = event as? Farewell {
            if isInputClosed { farewell.say() } else { self.farewell = farewell }
            promise?.succeed()
            return
        }
        guard let interim = event as? InterimAnswer else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        // Nobody waits for one any more when all of the request is here.
        if isReading || interim.isWantedLate {
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

    // MARK: The end

    private func refuse(_ problem: Problem, context: ChannelHandlerContext) {
        refusal = problem
        if open == 0 { say(problem, context: context) }
    }

    private func say(_ problem: Problem, context: ChannelHandlerContext) {
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
                // The answer is whole: what is left of the request is not wanted (RFC 9113, 8.1).
                context.triggerUserOutboundEvent(NIOHTTP2FramePayloadToHTTPEvent.reset(code: .noError), promise: nil)
            } else {
                context.close(promise: nil)
            }
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Whoever has closed its half may still want the answer to what it asked, but hardly one without an end.
        if let event = event as? ChannelEvent, event == .inputClosed { sayFarewell() }
        context.fireUserInboundEventTriggered(event)
    }

    private func sayFarewell() {
        isInputClosed = true
        farewell?.say()
        farewell = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        sayFarewell()
        lingering?.cancel()
        bodyDeadline?.cancel()
        stallDeadline?.cancel()
        context.fireChannelInactive()
    }
}

extension Problem {
    static func tooManyConnections(_ limit: Int) -> Problem {
        .tooManyRequests("One address has at most \(limit) connections open here.", retryAfter: 10)
    }

    static let headersTooLarge = Problem(
        .headersTooLarge, "Headers have at most \(Limits.headerBytes) bytes here.",
        context: ["limit": .integer(Int64(Limits.headerBytes))])
}
