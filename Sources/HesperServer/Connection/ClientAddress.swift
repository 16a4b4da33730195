import HesperModel
import NIOCore

/// Where a request comes from, as far as one household or company can be told from another.
struct ClientAddress: Sendable {
    /// An IPv4 address, or the /64 network of an IPv6 address: one subscriber has all of it.
    let key: String
    let isLoopback: Bool

    init(_ address: SocketAddress?) {
        switch address {
        case .v4?:
            key = address?.ipAddress ?? ""
            isLoopback = key.hasPrefix("127.")
        case .v6(let v6)?:
            let bytes = withUnsafeBytes(of: v6.address.sin6_addr) { Array($0) }
            // An IPv4 client of a socket that listens on both.
            if bytes.prefix(12).elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]) {
                key = bytes.suffix(4).map(String.init).joined(separator: ".")
                isLoopback = bytes[12] == 127
            } else {
                key = bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":")
                isLoopback = bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
            }
        case .unixDomainSocket?, nil:
            key = "local"
            isLoopback = true
        }
    }
}
