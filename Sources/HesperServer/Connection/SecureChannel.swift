import HesperModel
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import NIOTLS

/// A TLS connection. The handshake negotiates HTTP/2 or HTTP/1.1 (ALPN, RFC 7301). If the address of the client has too many
/// connections already, the connection is closed without a response, because a response could be sent only after the handshake.
struct SecureChannel: HTTPChannelHandler {
    let certificate: ServerCertificate
    let http1: HTTP1Channel
    let http2: HTTP2Connection
    let handshakeSeconds: Int

    var responder: Responder { http1.responder }

    enum Connection: Sendable {
        case http1(HTTP1Channel.Value)
        case http2(HTTP2Connection.Streams)
    }

    struct Value: ServerChildChannelValue {
        let channel: any Channel
        fileprivate let negotiated: EventLoopFuture<Connection>
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let isSetUp: EventLoopFuture<Value> = channel.eventLoop.makeCompletedFuture {
            let address = ClientAddress(channel.remoteAddress)
            guard let permit = ConnectionPermit(of: address, from: http2.permits) else {
                throw Problem.tooManyConnections(http2.limits.perAddress)
            }
            let negotiation = NIOTypedApplicationProtocolNegotiationHandler<Connection> { result, channel in
                switch result {
                case .negotiated("h2"):
                    channel.eventLoop.makeCompletedFuture { .http2(try http2.setup(channel: channel)) }
                // A client without ALPN uses HTTP/1.1.
                case .negotiated, .fallback: http1.setup(channel: channel, logger: logger).map { .http1($0) }
                }
            }
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(permit)
            try pipeline.addHandler(NIOSSLServerHandler(context: certificate.context))
            try pipeline.addHandler(HandshakeDeadline(seconds: handshakeSeconds))
            try pipeline.addHandler(negotiation)
            return Value(channel: channel, negotiated: negotiation.protocolNegotiationResult)
        }
        return isSetUp.flatMapErrorThrowing { error in
            // The channel is closed here, because Hummingbird does not close a channel whose setup failed.
            channel.close(promise: nil)
            throw error
        }
    }

    func handle(value: Value, logger: Logger) async {
        do {
            switch try await value.negotiated.get() {
            case .http1(let connection): await http1.handle(value: connection, logger: logger)
            case .http2(let streams): await http2.handle(streams, logger: logger)
            }
        } catch {
            logger.debug("TLS handshake failed: \(error)")
            value.channel.close(promise: nil)
        }
    }
}
