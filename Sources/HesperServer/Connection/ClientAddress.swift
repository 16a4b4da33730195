import HesperModel
import NIOCore

/// Where a request comes from, as far as one household or company can be told from another.
struct ClientAddress: Sendable {
    /// An IPv4 address, or the /64 network of an IPv6 address: one subscriber has all of it.
    let key: String
    /// The whole address, as its owner is shown it; nil for a socket of this machine that has none.
    let text: String?
    let isLoopback: Bool

    /// - Parameter address: nil for a socket of this machine.
    init(ip address: IPAddress?) {
        guard let address else {
            key = "local"
            text = nil
            isLoopback = true
            return
        }
        isLoopback = address.isLoopback
        text = address.text
        key =
            address.isIPv4 ? address.text : address.bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":")
    }

    init(_ address: SocketAddress?) { self.init(ip: IPAddress(address)) }
}
