import NIOCore

/// Ends what arrives and never becomes a part of a request: blank lines, or extensions of chunks, without an end.
///
/// It stands before the decoder of HTTP, which passes over them in silence; ``ConnectionGuard`` tells it of every part that
/// comes out.
final class WireCount: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Bytes that may pass without a part coming out: more than all headers that are allowed. What is read at once may be more,
    /// as TLS passes on all that it has, so it is asked only when the decoder has seen it.
    static let limit = 256 << 10

    private var count = 0

    func partCameOut() { count = 0 }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        count += unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
        if count > WireCount.limit { context.close(promise: nil) }
    }
}
