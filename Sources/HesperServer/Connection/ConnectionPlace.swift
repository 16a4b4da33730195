import NIOCore

/// A place among the connections of an address, from before the handshake of TLS until the connection is closed. Whoever finds it
/// in the pipeline counts the connection no more.
final class ConnectionPlace: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let counts: ConnectionCounts
    private let address: ClientAddress

    /// Nil if there is none left.
    init?(of address: ClientAddress, among counts: ConnectionCounts) {
        guard counts.begin(address) else { return nil }
        self.counts = counts
        self.address = address
    }

    func handlerRemoved(context: ChannelHandlerContext) { counts.end(address) }
}
