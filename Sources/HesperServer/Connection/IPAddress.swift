import NIOCore

/// An IP address as 16 bytes. An IPv4 address is mapped to IPv6 (RFC 4291, 2.5.5.2), because sockets that accept both versions
/// report IPv4 clients in this form.
struct IPAddress: Equatable, Sendable {
    let bytes: [UInt8]

    private static let mapping: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

    /// Converts the address of a socket; nil if it is not an IP address but, for example, the address of a Unix socket.
    init?(_ address: SocketAddress?) {
        switch address {
        case .v4(let v4)?: bytes = IPAddress.mapping + withUnsafeBytes(of: v4.address.sin_addr) { Array($0) }
        case .v6(let v6)?: bytes = withUnsafeBytes(of: v6.address.sin6_addr) { Array($0) }
        case .unixDomainSocket?, nil: return nil
        }
    }

    /// Parses an address without a port.
    init?(_ text: some StringProtocol) {
        guard let address = try? SocketAddress(ipAddress: String(text), port: 0) else { return nil }
        self.init(address)
    }

    /// Parses an address as proxies write it: `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]:4711`.
    init?(hop text: some StringProtocol) {
        if text.hasPrefix("[") {
            self.init(text.dropFirst().prefix { $0 != "]" })
        } else if text.contains("."), let colon = text.lastIndex(of: ":"), text.firstIndex(of: ":") == colon {
            self.init(text[..<colon])
        } else {
            self.init(text)
        }
    }

    /// The text form of the address.
    var text: String {
        if isIPv4 { return bytes.suffix(4).map(String.init).joined(separator: ".") }
        return (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0))?.ipAddress ?? ""
    }

    var isIPv4: Bool { bytes.starts(with: IPAddress.mapping) }

    var isLoopback: Bool {
        isIPv4 ? bytes[12] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
    }
}
