import Crypto
import Foundation
import SwiftASN1
import X509

/// The certificate authority of one installation. It signs only the certificate of the installation's server.
///
/// The authority's own certificate contains restrictions. The authority may sign certificates of servers, but not of subordinate
/// authorities. The names in these certificates must be names of this server or names that are local to a private network. If an
/// attacker steals the key, devices that trust this authority still reject certificates for internet sites.
struct LocalAuthority: Sendable {
    let pair: CertificatePair

    /// The number of days for which the authority is valid. The number is large, because users must make each device trust a new
    /// authority manually.
    static let days = 3_650
    /// The number of days for which a server certificate is valid. Apple allows at most 398.
    static let serverDays = 397

    /// Creates a new authority.
    init(for names: [CertificateName], machine: String = ServerNames.machine, now: Date) throws {
        let key = P256.Signing.PrivateKey()
        // Users and programs would confuse two authorities with the same name, so the name contains a random number.
        let number = String(UInt32.random(in: 0x1000_0000 ... .max), radix: 16)
        let name = try DistinguishedName { CommonName("Hesper on \(machine.prefix(40)) (\(number))") }
        let start = now - LocalAuthority.clockTolerance
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: start, notValidAfter: start + LocalAuthority.seconds(LocalAuthority.days),
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
                Critical(LocalAuthority.constraints(for: names))
                try ExtendedKeyUsage([.serverAuth])
                SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey))
            }, issuerPrivateKey: Certificate.PrivateKey(key))
        pair = CertificatePair(certificate: certificate, key: key)
    }

    init(_ pair: CertificatePair) { self.pair = pair }

    var certificate: Certificate { pair.certificate }

    /// The SHA-256 hash of the certificate, in the format that browsers and openssl show.
    var fingerprint: String {
        get throws {
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            return SHA256.hash(data: serializer.serializedBytes)
                .map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
        }
    }

    /// Whether the authority's name constraints allow it to sign a certificate for this name.
    func allows(_ name: CertificateName) -> Bool {
        guard let constraints = try? certificate.extensions.nameConstraints else { return false }
        let isPermitted =
            constraints.permittedDNSDomains.contains { name.isWithin(.dnsName($0)) }
            || constraints.permittedIPRanges.contains { name.isWithin(.ipAddress($0)) }
        return isPermitted && !constraints.excludedDNSDomains.contains { name.isWithin(.dnsName($0)) }
    }

    /// The name constraints of an authority. They allow `names` but no subdomains of `names`. If subdomains were allowed, the
    /// authority of a machine named `dev` could sign certificates for all sites under `.dev`.
    private static func constraints(for names: [CertificateName]) -> NameConstraints {
        let own = names.filter { name in !localNames.contains { name.isWithin($0) } }
        let topmost = own.filter { name in !own.contains { $0 != name && $0.isWithin(name.subtree) } }
        return NameConstraints(
            permittedSubtrees: localNames + own.map(\.subtree), excludedSubtrees: topmost.compactMap(\.subdomains))
    }

    /// Creates a certificate for a server, with a new key.
    func serverCertificate(for names: [CertificateName], now: Date) throws -> CertificatePair {
        let key = P256.Signing.PrivateKey()
        let start = now - LocalAuthority.clockTolerance
        // The validity period includes both its first and its last second (RFC 5280, 4.1.2.5).
        let end = start + LocalAuthority.seconds(LocalAuthority.serverDays) - 1
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: start, notValidAfter: min(end, self.certificate.notValidAfter),
            issuer: self.certificate.subject, subject: try DistinguishedName { CommonName("Hesper") },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(names.map(\.general))
                SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey))
                AuthorityKeyIdentifier(
                    keyIdentifier: SubjectKeyIdentifier(hash: self.certificate.publicKey).keyIdentifier)
            }, issuerPrivateKey: Certificate.PrivateKey(pair.key))
        return CertificatePair(certificate: certificate, key: key)
    }

    /// Whether this authority signed a certificate.
    func hasSigned(_ other: Certificate) -> Bool {
        certificate.publicKey.isValidSignature(other.signature, for: other)
    }

    /// The number of seconds by which a certificate is dated back, because the clocks of devices may be behind.
    private static let clockTolerance: TimeInterval = 3_600

    static func seconds(_ days: Int) -> TimeInterval { TimeInterval(days) * 86_400 }

    /// Names and networks that are never assigned on the internet. The names are from RFC 6761, RFC 6762 and RFC 8375, and
    /// `internal` is reserved by ICANN. The networks are from RFC 1918, RFC 3927, RFC 4193 and RFC 4291.
    private static let localNames: [GeneralName] = {
        let names = ["localhost", "local", "home.arpa", "internal"]
        let ranges = [
            "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "::1/128", "fc00::/7",
            "fe80::/10",
        ]
        return names.map { .dnsName($0) } + ranges.compactMap(CertificateName.network)
    }()
}
