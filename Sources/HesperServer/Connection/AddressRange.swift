/// An IP address or a network in CIDR notation (RFC 4632, 3.1): `192.0.2.7`, `10.0.0.0/8`, `fd00::/8`.
public struct AddressRange: Sendable {
    private let network: IPAddress
    private let bits: Int

    /// Parses an address or a network.
    /// - Returns: nil if the text is invalid. Also nil if a bit after the prefix is set, as in `10.1.2.3/8`: the prefix length is
    ///   then probably a mistake, and the network would contain far more addresses than intended.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(parts[0]) else { return nil }
        let all = address.isIPv4 ? 32 : 128
        let length = parts.count == 1 ? all : Int(parts[1]) ?? -1
        guard (0...all).contains(length) else { return nil }
        network = address
        bits = 128 - all + length
        guard address.bytes.indices.allSatisfy({ network.bytes[$0] & ~mask(at: $0) == 0 }) else { return nil }
    }

    func contains(_ address: IPAddress) -> Bool {
        address.bytes.indices.allSatisfy { address.bytes[$0] & mask(at: $0) == network.bytes[$0] }
    }

    /// The byte of the network mask at this index. A bit is 1 if it belongs to the prefix.
    private func mask(at index: Int) -> UInt8 {
        let here = min(max(bits - 8 * index, 0), 8)
        return ~UInt8(truncatingIfNeeded: 0xff >> here)
    }
}
