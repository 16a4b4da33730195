import HesperModel
import NIOCore
import NIOHTTP1

/// Handles the properties of an HTTP/1 request that later handlers cannot see: the HTTP version, and multiple values of
/// `Connection`, `Host` and `Transfer-Encoding` (RFC 9112, 3.2, 6.1 and 9.3).
///
/// It is placed before the codec that creates Hummingbird's requests. Hummingbird's requests have no HTTP version, and
/// Hummingbird closes a connection only if the value of `Connection` is exactly `close`.
final class MessageFraming: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The version and method of each request whose response is not complete yet.
    private var requests = CircularBuffer<(version: HTTPVersion, isHead: Bool)>()
    private var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        if let problem = MessageFraming.problem(with: head) {
            isRefused = true
            return context.fireErrorCaught(problem)
        }
        requests.append((head.version, head.method == .HEAD))
        // Keep-alive is not supported for HTTP/1.0: the connection closes after the response.
        let closes = head.version == .http1_0 || head.headers[canonicalForm: "connection"].contains { $0.isClose }
        guard closes else { return context.fireChannelRead(data) }
        head.headers.replaceOrAdd(name: "connection", value: "close")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where requests.first?.version == .http1_0:
            // A response without a length ends when the connection closes. The version must be 1.0 here, because the encoder would
            // otherwise send the body in chunks, which HTTP/1.0 does not have.
            head.version = .http1_0
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .head(var head) where requests.first?.isHead == true && head.headers.contains(name: "transfer-encoding"):
            // The response to HEAD has no body. The version is changed to 1.0, because for HTTP/1.1 the encoder would send the last
            // chunk of a chunked body. The connection closes after the response.
            head.version = .http1_0
            head.headers.remove(name: "transfer-encoding")
            head.headers.replaceOrAdd(name: "connection", value: "close")
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            _ = requests.popFirst()
            context.write(data, promise: promise)
        default: context.write(data, promise: promise)
        }
    }

    private static func problem(with head: HTTPRequestHead) -> Problem? {
        let hosts = head.headers["host"].count
        guard hosts == 1 || hosts == 0 && head.version == .http1_0 else {
            return Problem(.malformedRequest, "A request must have exactly one Host header, not \(hosts).")
        }
        let codings = head.headers[canonicalForm: "transfer-encoding"]
        guard codings.isEmpty || codings.count == 1 && codings[0].lowercased() == "chunked" else {
            return Problem(
                .malformedRequest, "Transfer-Encoding must be chunked. Other transfer codings are not supported.")
        }
        return nil
    }
}

extension Substring {
    fileprivate var isClose: Bool { utf8.elementsEqual("close".utf8) { $0 | 0x20 == $1 } }
}
