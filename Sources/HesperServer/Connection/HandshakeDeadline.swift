import NIOCore
import NIOTLS

/// Closes a connection whose TLS handshake does not complete in time. Removes itself after the handshake.
final class HandshakeDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let seconds: Int
    private var deadline: Scheduled<Void>?

    init(seconds: Int) { self.seconds = seconds }

    func handlerAdded(context: ChannelHandlerContext) {
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(Int64(seconds))) {
            context.close(promise: nil)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted:
            context.fireUserInboundEventTriggered(event)
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        // The server is shutting down, and no request was sent yet.
        case is ChannelShouldQuiesceEvent: context.close(promise: nil)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }
}
