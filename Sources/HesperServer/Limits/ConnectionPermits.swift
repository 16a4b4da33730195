import HesperModel
import NIOCore

/// Limits the number of open connections, or of open HTTP/2 streams, per address. Trusted proxies are not limited, because each
/// proxy may connect on behalf of many clients. For the same reason, processes on this machine are limited only if
/// ``ConnectionLimits/countsLoopback`` is set.
struct ConnectionPermits: Sendable {
    private let semaphore: Semaphore<String>
    private let countsLoopback: Bool
    private let proxies: [AddressRange]

    init(
        limits: ConnectionLimits, of limit: KeyPath<ConnectionLimits, Int> = \.perAddress, proxies: [AddressRange] = []
    ) {
        let limit = limits[keyPath: limit]
        semaphore = Semaphore(PermitLimits(perKey: limit), refusal: .tooManyConnections(limit))
        countsLoopback = limits.countsLoopback
        self.proxies = proxies
    }

    /// The number of addresses that hold permits.
    var addressCount: Int { semaphore.keyCount }

    /// Takes a permit.
    /// - Returns: whether the connection or stream is permitted. If so, call ``release(_:)`` when it closes.
    func tryAcquire(_ address: ClientAddress) -> Bool { !isLimited(address) || semaphore.tryAcquire(address.key) }

    func release(_ address: ClientAddress) {
        if isLimited(address) { semaphore.release(address.key) }
    }

    private func isLimited(_ address: ClientAddress) -> Bool {
        if address.isLoopback { return countsLoopback }
        guard !proxies.isEmpty, let ip = address.text.flatMap({ IPAddress($0) }) else { return true }
        return !proxies.contains { $0.contains(ip) }
    }
}

/// Holds a connection's permit from before the TLS handshake until the connection is closed. If this handler is in the pipeline,
/// ``ConnectionGuard`` takes no permit of its own.
final class ConnectionPermit: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let permits: ConnectionPermits
    private let address: ClientAddress

    /// Takes a permit for the address. Nil if no permit is free.
    init?(of address: ClientAddress, from permits: ConnectionPermits) {
        guard permits.tryAcquire(address) else { return nil }
        self.permits = permits
        self.address = address
    }

    func handlerRemoved(context: ChannelHandlerContext) { permits.release(address) }
}
