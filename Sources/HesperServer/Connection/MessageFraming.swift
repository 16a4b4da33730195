import HesperModel
import NIOCore
import NIOHTTP1

/// How messages of one connection end, where that depends on what the later handlers are not told: the version, all values
/// of `Connection`, `Host` and `Transfer-Encoding` (RFC 9112, 3.2, 6.1 and 9.3).
///
/// It stands before the codec that makes Hummingbird's requests, which have no version and for which only `Connection:
/// close`, just so, is the end.
final class MessageFraming: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// What is known of the requests that are not answered to their end.
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
        // Nobody's client of HTTP/1.0 is worth keeping a connection for.
        let asksForEnd = head.version == .http1_0 || head.headers[canonicalForm: "connection"].contains { $0.isClose }
        guard asksForEnd else { return context.fireChannelRead(data) }
        head.headers.replaceOrAdd(name: "connection", value: "close")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where requests.first?.version == .http1_0:
            // Then the encoder sends no chunks: the end of a long answer is that of the connection.
            head.version = .http1_0
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .head(var head) where requests.first?.isHead == true && head.headers.contains(name: "transfer-encoding"):
            // Its length is not known, and it has no chunks, not even a last one: as above.
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
            return Problem(.malformedRequest, "A request has one header Host, not \(hosts).")
        }
        let codings = head.headers[canonicalForm: "transfer-encoding"]
        guard codings.isEmpty || codings.count == 1 && codings[0].lowercased() == "chunked" else {
            return Problem(
                .malformedRequest, "A body is sent in chunks, or with its length; there is no other coding here.")
        }
        return nil
    }
}

extension Substring {
    fileprivate var isClose: Bool { utf8.elementsEqual("close".utf8) { $0 | 0x20 == $1 } }
}
