import NIOCore

/// Closes a connection on which the client sends endless input, such as blank lines or chunk extensions, without completing a
/// part of a request.
///
/// It is placed before the HTTP decoder, which skips such input without an event. This handler counts the received bytes, and
/// ``ConnectionGuard`` resets the count for every part that the decoder produces.
final class UnparsedByteLimit: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The maximum number of bytes between two parts of a request. It is greater than the maximum size of all headers. A single
    /// read over TLS may be larger than this maximum and contain complete parts. The count is therefore checked after the decoder
    /// has processed the read.
    static let maximumBytes = 256 << 10

    private var count = 0

    func reset() { count = 0 }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        count += unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
        if count > UnparsedByteLimit.maximumBytes { context.close(promise: nil) }
    }
}
