import HTTPTypes
import HesperModel
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP2

/// An HTTP/2 connection (RFC 9113), with the same limits as an HTTP/1.1 connection. Each request has its own stream, and each
/// stream has its own ``ConnectionGuard``.
struct HTTP2Connection: Sendable {
    typealias Stream = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>
    typealias Streams = NIOHTTP2Handler.AsyncStreamMultiplexer<Stream>

    let limits: ConnectionLimits
    /// Limits the number of open connections per address. A connection takes a permit before the handshake negotiates HTTP/2 or
    /// HTTP/1.1, so the limit includes HTTP/1.1 connections.
    let permits: ConnectionPermits
    /// Limits the number of open streams per address.
    let streamPermits: ConnectionPermits
    /// Handles the requests of the streams. A codec converts them to the types that are also used for HTTP/1.1.
    let http1: HTTP1Channel

    func setup(channel: any Channel) throws -> Streams {
        let pipeline = channel.pipeline.syncOperations
        let manager = NIOHTTP2ServerConnectionManagementHandler(
            eventLoop: channel.eventLoop,
            configuration: .init(
                maxIdleTime: .seconds(Int64(limits.idleSeconds)), maxAge: nil,
                maxGraceTime: nil,
                keepalive: .init(
                    pingInterval: .seconds(Int64(limits.stallSeconds)), ackTimeout: .seconds(Int64(limits.stallSeconds))
                )))
        let closer = ConnectionCloser(grace: HTTP2Connection.grace)
        let isolated = NIOLoopBound(closer, eventLoop: channel.eventLoop)
        let address = ClientAddress(channel.remoteAddress)
        try pipeline.addHandler(HeadDeadline(seconds: limits.idleSeconds))
        let streams = try pipeline.configureAsyncHTTP2Pipeline(
            mode: .server, streamDelegate: manager.http2StreamDelegate, configuration: configuration
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                isolated.value.streamOpened(stream)
                let pipeline = stream.pipeline.syncOperations
                if streamPermits.tryAcquire(address) {
                    stream.closeFuture.whenComplete { _ in streamPermits.release(address) }
                } else {
                    try pipeline.addHandler(StreamRefusal())
                }
                try pipeline.addHandler(HTTP2FramePayloadToHTTPServerCodec())
                try pipeline.addHandlers(http1.configuration.additionalChannelHandlers())
                return try Stream(wrappingChannelSynchronously: stream)
            }
        }
        try pipeline.addHandlers(closer, manager)
        // NIO calls this method when a channel becomes active. This channel was already active when the handler was added, so the
        // method must be called here. Without the call, a connection on which no frame is ever sent would not time out.
        try manager.channelActive(context: pipeline.context(handler: manager))
        return streams
    }

    func handle(_ streams: Streams, logger: Logger) async {
        do {
            try await withThrowingDiscardingTaskGroup { group in
                for try await stream in streams.inbound {
                    group.addTask { await http1.handle(value: stream, logger: logger) }
                }
            }
        } catch {
            logger.debug("HTTP/2 connection failed: \(error)")
        }
    }

    /// The HTTP/2 settings. In addition, NIO's default limits on resets, empty frames, continuations and control frames apply.
    private var configuration: NIOHTTP2Handler.Configuration {
        var configuration = NIOHTTP2Handler.Configuration()
        configuration.connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: limits.streams),
            // If the headers of a request exceed this limit, NIO closes the connection without a response. ConnectionGuard responds
            // with the reason, so this limit must be higher than the limit of ConnectionGuard. NIO also adds 32 bytes to the length
            // of each header (RFC 9113, 6.5.2), and ConnectionGuard does not.
            HTTP2Setting(parameter: .maxHeaderListSize, value: 2 * (Limits.headerBytes + limits.uriBytes)),
        ]
        configuration.connection.targetWindowSize = HTTP2Connection.connectionWindow
        configuration.stream.targetWindowSize = HTTP2Connection.streamWindow
        configuration.stream.outboundBufferSizeHighWatermark = HTTP2Connection.outboundBuffer
        configuration.stream.outboundBufferSizeLowWatermark = HTTP2Connection.outboundBuffer / 2
        return configuration
    }

    /// How long requests in progress may take after the server has announced that it will close the connection (GOAWAY). After
    /// this time the connection is closed. A client that does not react, such as a sleeping phone, must not delay a shutdown.
    private static let grace = TimeAmount.seconds(20)
    /// The flow-control window of a stream: the number of bytes that a client may send before the server has read them. With the
    /// default of 64 KiB, an upload with a round-trip time of 50 ms would reach at most 1.3 MB/s.
    private static let streamWindow = 512 << 10
    /// The flow-control window of all streams of a connection together, in bytes.
    private static let connectionWindow = 1 << 20
    /// The maximum number of bytes that are buffered for each stream before writing to it pauses.
    private static let outboundBuffer = 64 << 10
}

/// Closes a connection after NIO has announced to the client that the connection will end (GOAWAY). After a protocol violation or
/// a flood, the connection is closed immediately. Otherwise it is closed after a short time if no request is in progress, and
/// after a grace period if requests are in progress. NIO itself would wait until the client closes the connection.
private final class ConnectionCloser: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private let grace: TimeAmount
    private var deadline: Scheduled<Void>?
    /// The number of open streams of the connection.
    private var open = 0

    init(grace: TimeAmount) { self.grace = grace }

    func streamOpened(_ stream: any Channel) {
        open += 1
        stream.closeFuture.assumeIsolated().whenComplete { _ in self.open -= 1 }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .goAway = unwrapOutboundIn(data).payload, deadline == nil {
            // After this delay, requests that the client sent before it received the announcement (GOAWAY) have arrived.
            schedule(context, in: ConnectionGuard.linger) { self.open == 0 }
        }
        context.write(data, promise: promise)
    }

    private func schedule(_ context: ChannelHandlerContext, in time: TimeAmount, if isDue: @escaping () -> Bool) {
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            if isDue() { return context.close(promise: nil) }
            self.schedule(context, in: self.grace - ConnectionGuard.linger) { true }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }
}

/// Refuses a stream before its request is processed, so that the client can safely repeat the request (RFC 9113, 8.7).
private final class StreamRefusal: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .headers = unwrapInboundIn(data) else { return }
        context.writeAndFlush(wrapOutboundOut(.rstStream(.refusedStream)), promise: nil)
    }
}

extension Channel {
    /// The channel of the connection. For HTTP/1.1, this is the channel itself. For an HTTP/2 stream, it is the parent of the
    /// channel. An HTTP/1.1 channel also has a parent: the listening channel, which itself has no parent.
    var connection: any Channel {
        guard let parent, parent.parent != nil else { return self }
        return parent
    }
}
