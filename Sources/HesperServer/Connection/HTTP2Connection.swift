import HTTPTypes
import HesperModel
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP2

/// A connection of HTTP/2 (RFC 9113) within the limits that one of HTTP/1.1 has. Each request is on a stream of its own, with
/// a ``ConnectionGuard`` of its own.
struct HTTP2Connection: Sendable {
    typealias Stream = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>
    typealias Streams = NIOHTTP2Handler.AsyncStreamMultiplexer<Stream>

    let limits: ConnectionLimits
    /// Of connections whose handshake is still to settle what they speak, too.
    let permits: ConnectionPermits
    let streamPermits: ConnectionPermits
    /// What answers the requests of a stream.
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
        let end = ConnectionEnd(grace: HTTP2Connection.grace)
        let isolated = NIOLoopBound(end, eventLoop: channel.eventLoop)
        let address = ClientAddress(channel.remoteAddress)
        try pipeline.addHandler(HeadDeadline(seconds: limits.idleSeconds))
        let streams = try pipeline.configureAsyncHTTP2Pipeline(
            mode: .server, streamDelegate: manager.http2StreamDelegate, configuration: configuration
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                isolated.value.begins(stream)
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
        try pipeline.addHandlers(end, manager)
        // The connection was active before the handshake settled what is spoken on it. Without this, whoever never sends a frame
        // would never be idle.
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
            logger.debug("A connection of HTTP/2 broke off: \(error)")
        }
    }

    /// NIO's bounds on resets, empty frames, continuations and control frames stand as they are.
    private var configuration: NIOHTTP2Handler.Configuration {
        var configuration = NIOHTTP2Handler.Configuration()
        configuration.connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: limits.streams),
            // What is more ends the connection; ConnectionGuard, which counts exactly, refuses a request with a reason. A header
            // counts 32 bytes more than it has (RFC 9113, 6.5.2).
            HTTP2Setting(parameter: .maxHeaderListSize, value: 2 * (Limits.headerBytes + limits.uriBytes)),
        ]
        configuration.connection.targetWindowSize = HTTP2Connection.connectionWindow
        configuration.stream.targetWindowSize = HTTP2Connection.streamWindow
        configuration.stream.outboundBufferSizeHighWatermark = HTTP2Connection.outboundBuffer
        configuration.stream.outboundBufferSizeLowWatermark = HTTP2Connection.outboundBuffer / 2
        return configuration
    }

    /// For requests that are under way when a connection is to end, and for clients that do not hear of it: a server that
    /// stops waits no longer for a telephone that sleeps.
    private static let grace = TimeAmount.seconds(20)
    /// Bytes that a client may send before they are read: at the standard's 64 KiB an upload over 50 ms of way would come with
    /// 1.3 MB/s at most.
    private static let streamWindow = 512 << 10
    private static let connectionWindow = 1 << 20
    /// Bytes of an answer that wait for the connection.
    private static let outboundBuffer = 64 << 10
}

/// Ends a connection that NIO has only announced the end of: at once if its client broke the protocol or flooded it; soon if
/// nothing is under way on it; after a while otherwise. NIO itself waits for the client's word then, which may never come.
private final class ConnectionEnd: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private let grace: TimeAmount
    private var deadline: Scheduled<Void>?
    /// Streams that have not come to their end.
    private var open = 0

    init(grace: TimeAmount) { self.grace = grace }

    func begins(_ stream: any Channel) {
        open += 1
        stream.closeFuture.assumeIsolated().whenComplete { _ in self.open -= 1 }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .goAway = unwrapOutboundIn(data).payload, deadline == nil {
            // What the client sent before it heard of the end has arrived by then.
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

/// Refuses a stream before anything is done for it, so that its request can be sent again (RFC 9113, 8.7).
private final class StreamRefusal: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .headers = unwrapInboundIn(data) else { return }
        context.writeAndFlush(wrapOutboundOut(.rstStream(.refusedStream)), promise: nil)
    }
}

extension Channel {
    /// Of a stream the connection that it is on, else the channel itself. What a server has accepted has the listening channel
    /// for a parent, which has none.
    var connection: any Channel {
        guard let parent, parent.parent != nil else { return self }
        return parent
    }
}
