import HesperModel
import NIOConcurrencyHelpers

/// How many connections, or streams on them, each address has open. Loopback and proxies of ours are free: there, one speaks for
/// everybody.
final class ConnectionCounts: Sendable {
    private let limit: Int
    private let countsLoopback: Bool
    private let proxies: [AddressRange]
    private let open = NIOLockedValueBox<[String: Int]>([:])

    init(
        limits: ConnectionLimits, of limit: KeyPath<ConnectionLimits, Int> = \.perAddress, proxies: [AddressRange] = []
    ) {
        self.limit = limits[keyPath: limit]
        countsLoopback = limits.countsLoopback
        self.proxies = proxies
    }

    /// How many addresses are connected.
    var count: Int { open.withLockedValue(\.count) }

    /// - Returns: whether there may be another; then it is to be ended.
    func begin(_ address: ClientAddress) -> Bool {
        guard isCounted(address) else { return true }
        return open.withLockedValue { open in
            guard open[address.key, default: 0] < limit else { return false }
            open[address.key, default: 0] += 1
            return true
        }
    }

    func end(_ address: ClientAddress) {
        guard isCounted(address) else { return }
        open.withLockedValue { open in open[address.key] = open[address.key].flatMap { $0 > 1 ? $0 - 1 : nil } }
    }

    private func isCounted(_ address: ClientAddress) -> Bool {
        if address.isLoopback { return countsLoopback }
        guard !proxies.isEmpty, let ip = address.text.flatMap({ IPAddress($0) }) else { return true }
        return !proxies.contains { $0.contains(ip) }
    }
}
