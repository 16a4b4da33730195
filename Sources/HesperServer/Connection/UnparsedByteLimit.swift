import NIOCore

/// Closes a connection that sends endless input without ever completing a part of a request, such as blank lines or chunk
/// extensions.
///
/// It is placed before the HTTP decoder, which skips such input without an event. ``ConnectionGuard`` resets it for every part
/// that the decoder produces.
final class UnparsedByteLimit: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The maximum number of bytes between two parts, more than all headers that are allowed. A single read may exceed it,
    /// because TLS passes on all available data; so it is checked after the decoder has processed the data.
    static let maximumBytes = 256 << 10

    private var count = 0

    func reset() { count = 0 }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        count += unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
        if count > UnparsedByteLimit.maximumBytes { context.close(promise: nil) }
    }
}
