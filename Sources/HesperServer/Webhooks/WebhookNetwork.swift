/// Decides to which addresses webhooks may send requests: to public addresses over HTTPS, and to the networks that the operator
/// allows. Without this check, an account could make the server send requests to machines that only the server can reach.
struct WebhookNetwork: Sendable {
    /// The networks that the operator allows. Requests to these networks may also use plain HTTP.
    let allowed: [AddressRange]

    init(allowed: [AddressRange] = []) { self.allowed = allowed }

    /// IPv4 networks that are not part of the public internet (RFC 6890 and its updates).
    private static let specialIPv4 = ranges(
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4")
    /// The range of the public unicast addresses of IPv6. It does not contain, for example, loopback, `fc00::/7` (private) and
    /// `fe80::/10` (link-local).
    private static let publicIPv6 = ranges("2000::/3")
    /// IPv6 networks in `2000::/3` that do not count as public. Addresses of Teredo (in `2001::/23`) and 6to4 (`2002::/16`) contain
    /// an IPv4 address, and routers send the packets to that IPv4 address. The other networks are reserved.
    private static let specialIPv6 = ranges("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
    /// The prefix of NAT64 addresses (RFC 6052). A NAT64 router translates such an address to the IPv4 address in its last four
    /// bytes. In networks with IPv6 only, all IPv4 hosts have such addresses.
    private static let nat64 = ranges("64:ff9b::/96")

    private static func ranges(_ texts: String...) -> [AddressRange] { texts.compactMap(AddressRange.init) }

    /// Whether the operator allows an address.
    func allows(_ address: IPAddress) -> Bool { allowed.contains { $0.contains(address) } }

    /// Whether a request may be sent to an address.
    func permits(_ address: IPAddress, isEncrypted: Bool) -> Bool {
        allows(address) || isEncrypted && WebhookNetwork.isPublic(address)
    }

    /// Whether an address is a public unicast address.
    static func isPublic(_ address: IPAddress) -> Bool {
        if address.isIPv4 { return !specialIPv4.contains { $0.contains(address) } }
        if nat64.contains(where: { $0.contains(address) }) {
            return IPAddress(address.bytes.suffix(4).map(String.init).joined(separator: ".")).map(isPublic) ?? false
        }
        return publicIPv6.contains { $0.contains(address) } && !specialIPv6.contains { $0.contains(address) }
    }
}
