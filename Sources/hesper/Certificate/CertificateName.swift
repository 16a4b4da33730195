import NIOCore
import SwiftASN1
import X509

/// A name for which a certificate is valid: a DNS name or an IP address.
enum CertificateName: Hashable, Sendable {
    /// A DNS name in lower case, without a trailing dot.
    case dns(String)
    /// The 4 bytes of an IPv4 address, or the 16 bytes of an IPv6 address.
    case address([UInt8])

    /// Parses a name or address. Nil if it is invalid. Names with non-ASCII letters must be in their `xn--` form.
    /// - Parameter host: a host from a URL or a setting, for example `[::1]` or `::1`.
    init?(_ host: String) {
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let bare = isBracketed ? String(host.dropFirst().dropLast()) : host
        switch try? SocketAddress(ipAddress: bare, port: 0) {
        case .v4(let v4)?: self = .address(withUnsafeBytes(of: v4.address.sin_addr) { Array($0) })
        case .v6(let v6)?: self = .address(withUnsafeBytes(of: v6.address.sin6_addr) { Array($0) })
        default:
            let name = bare.lowercased()
            guard !isBracketed, CertificateName.isName(name) else { return nil }
            self = .dns(name)
        }
    }

    /// Whether a DNS name is valid. It may contain letters, digits, hyphens and underscores, and at most 253 characters. Each
    /// label (the part between two dots) may have at most 63 characters. The last label must not be numeric (RFC 1123, 2.1).
    private static func isName(_ name: String) -> Bool {
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isLegal = labels.allSatisfy { label in
            (1...63).contains(label.count)
                && label.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
                    case UInt8(ascii: "-"), UInt8(ascii: "_"): true
                    default: false
                    }
                }
        }
        return isLegal && name.utf8.count <= 253 && labels.last.flatMap { Int(Substring($0)) } == nil
    }

    /// Whether this is the unspecified address, `0.0.0.0` or `::`.
    var isUnspecified: Bool {
        guard case .address(let bytes) = self else { return false }
        return bytes.allSatisfy { $0 == 0 }
    }

    /// The name or address as text.
    var text: String {
        switch self {
        case .dns(let name): name
        case .address(let bytes):
            (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0))?.ipAddress ?? ""
        }
    }

    /// The name or address in the form that certificates contain (RFC 5280, 4.2.1.6).
    var general: GeneralName {
        switch self {
        case .dns(let name): .dnsName(name)
        case .address(let bytes): .ipAddress(ASN1OctetString(contentBytes: bytes[...]))
        }
    }

    /// A name constraint that covers this address, or this name and its subdomains (RFC 5280, 4.2.1.10).
    var subtree: GeneralName {
        switch self {
        case .dns(let name): .dnsName(name)
        case .address(let bytes): CertificateName.network(bytes, bits: 8 * bytes.count)
        }
    }

    /// A name constraint that covers only the subdomains of this name; nil for an address. RFC 5280 does not define this form,
    /// but implementations support it.
    var subdomains: GeneralName? {
        guard case .dns(let name) = self else { return nil }
        return .dnsName(".\(name)")
    }

    /// A name constraint that covers all addresses whose first `bits` bits are the same as those of `bytes`.
    private static func network(_ bytes: [UInt8], bits: Int) -> GeneralName {
        let mask = bytes.indices.map { ~UInt8(truncatingIfNeeded: 0xff >> min(max(bits - 8 * $0, 0), 8)) }
        return .ipAddress(ASN1OctetString(contentBytes: (bytes + mask)[...]))
    }

    /// Parses a network in CIDR notation and returns a name constraint that covers it. Nil if the text is invalid.
    static func network(_ text: String) -> GeneralName? {
        let parts = text.split(separator: "/")
        guard parts.count == 2, case .address(let bytes)? = CertificateName(String(parts[0])), let bits = Int(parts[1])
        else { return nil }
        return network(bytes, bits: bits)
    }

    /// Whether a name constraint covers this name or address.
    func isWithin(_ subtree: GeneralName) -> Bool {
        switch (self, subtree) {
        case (.dns(let name), .dnsName(let base)):
            return name == base || name.hasSuffix(base.hasPrefix(".") ? base : ".\(base)")
        case (.address(let bytes), .ipAddress(let network)):
            let limit = Array(network.bytes)
            guard limit.count == 2 * bytes.count else { return false }
            return bytes.indices.allSatisfy { bytes[$0] & limit[bytes.count + $0] == limit[$0] }
        default: return false
        }
    }
}
