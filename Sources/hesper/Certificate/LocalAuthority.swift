import Crypto
import Foundation
import SwiftASN1
import X509

/// An authority of one installation, which vouches for its server to those who were told to trust it.
///
/// It vouches for servers alone, for no other authority, and for no names but those that it was made for and those that lead
/// nowhere beyond a network of one's own. So whoever steals its key is not everybody on the internet to those who trust it.
struct LocalAuthority: Sendable {
    let pair: CertificatePair

    /// Trusting it is work on every device: it lasts.
    static let days = 3_650
    /// What browsers and systems take of a server; all of them take this (Apple's limit is 398).
    static let serverDays = 397

    /// Makes a new one.
    init(for names: [CertificateName], machine: String = ServerNames.machine, now: Date) throws {
        let key = P256.Signing.PrivateKey()
        // Two of one name would be mixed up by people and by programs.
        let number = String(UInt32.random(in: 0x1000_0000 ... .max), radix: 16)
        let name = try DistinguishedName { CommonName("Hesper on \(machine.prefix(40)) (\(number))") }
        let start = now - LocalAuthority.behind
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: start, notValidAfter: start + LocalAuthority.seconds(LocalAuthority.days),
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
                Critical(LocalAuthority.limits(for: names))
                try ExtendedKeyUsage([.serverAuth])
                SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey))
            }, issuerPrivateKey: Certificate.PrivateKey(key))
        pair = CertificatePair(certificate: certificate, key: key)
    }

    init(_ pair: CertificatePair) { self.pair = pair }

    var certificate: Certificate { pair.certificate }

    /// The SHA-256 of the certificate, as browsers and openssl show it.
    var fingerprint: String {
        get throws {
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            return SHA256.hash(data: serializer.serializedBytes)
                .map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
        }
    }

    func vouches(for name: CertificateName) -> Bool {
        guard let limits = try? certificate.extensions.nameConstraints else { return false }
        let isPermitted =
            limits.permittedDNSDomains.contains { name.isWithin(.dnsName($0)) }
            || limits.permittedIPRanges.contains { name.isWithin(.ipAddress($0)) }
        return isPermitted && !limits.excludedDNSDomains.contains { name.isWithin(.dnsName($0)) }
    }

    /// These names, and not those below them: a machine that is called `dev` does not vouch for all sites under `.dev`.
    private static func limits(for names: [CertificateName]) -> NameConstraints {
        let own = names.filter { name in !nobodys.contains { name.isWithin($0) } }
        let below = own.filter { name in !own.contains { $0 != name && $0.isWithin(name.subtree) } }
        return NameConstraints(
            permittedSubtrees: nobodys + own.map(\.subtree), excludedSubtrees: below.compactMap(\.below))
    }

    /// A certificate for a server, with a key of its own.
    func serverCertificate(for names: [CertificateName], now: Date) throws -> CertificatePair {
        let key = P256.Signing.PrivateKey()
        let start = now - LocalAuthority.behind
        // Both ends count (RFC 5280, 4.1.2.5).
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

    /// Whether it has vouched for a certificate.
    func hasSigned(_ other: Certificate) -> Bool {
        certificate.publicKey.isValidSignature(other.signature, for: other)
    }

    /// Clocks of devices may be behind ours, in seconds.
    private static let behind: TimeInterval = 3_600

    static func seconds(_ days: Int) -> TimeInterval { TimeInterval(days) * 86_400 }

    /// Names and networks that nobody has on the internet (RFC 6761, RFC 6762, RFC 8375, and `internal` by ICANN's word; RFC 1918,
    /// RFC 3927, RFC 4193, RFC 4291).
    private static let nobodys: [GeneralName] = {
        let names = ["localhost", "local", "home.arpa", "internal"]
        let ranges = [
            "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "::1/128", "fc00::/7",
            "fe80::/10",
        ]
        return names.map { .dnsName($0) } + ranges.compactMap(CertificateName.network)
    }()
}
