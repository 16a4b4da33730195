import HesperModel
import NIOCore

/// Limits how many connections, or streams on them, each address has open. Loopback and trusted proxies are not limited: they
/// connect on behalf of many clients.
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

    /// The number of addresses that are connected.
    var addressCount: Int { semaphore.keyCount }

    /// - Returns: whether a permit was acquired. If so, call ``release(_:)`` when the connection or stream closes.
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

/// Holds a connection's permit from before the TLS handshake until the connection is closed. A handler that finds this one in
/// the pipeline takes no second permit.
final class ConnectionPermit: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let permits: ConnectionPermits
    private let address: ClientAddress

    /// Nil if no permit is free.
    init?(of address: ClientAddress, from permits: ConnectionPermits) {
        guard permits.tryAcquire(address) else { return nil }
        self.permits = permits
        self.address = address
    }

    func handlerRemoved(context: ChannelHandlerContext) { permits.release(address) }
}
