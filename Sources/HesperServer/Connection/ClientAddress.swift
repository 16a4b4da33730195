import HesperModel
import NIOCore

/// The address of a client, and the key by which its requests and connections are limited.
struct ClientAddress: Sendable {
    /// The key for limits: the IPv4 address, or the /64 network of the IPv6 address. The whole network is used, because one
    /// subscriber usually has a whole /64 network.
    let key: String
    /// The full address, as shown to the owner of the account; nil for a Unix socket.
    let text: String?
    let isLoopback: Bool

    /// - Parameter address: nil for a Unix socket.
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
