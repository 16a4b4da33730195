import Crypto
import SwiftASN1
import X509

/// A certificate and its private key.
struct CertificatePair: Sendable {
    let certificate: Certificate
    let key: P256.Signing.PrivateKey

    init(certificate: Certificate, key: P256.Signing.PrivateKey) {
        self.certificate = certificate
        self.key = key
    }

    /// Reads a certificate and its key from PEM.
    /// - Throws: an error if one of the texts is not valid PEM, or if the key does not belong to the certificate.
    init(certificate: [UInt8], key: [UInt8]) throws {
        self.certificate = try Certificate(pemEncoded: String(decoding: certificate, as: UTF8.self))
        self.key = try P256.Signing.PrivateKey(pemRepresentation: String(decoding: key, as: UTF8.self))
        guard Certificate.PublicKey(self.key.publicKey) == self.certificate.publicKey else { throw Mismatch() }
    }

    struct Mismatch: Error, CustomStringConvertible {
        var description: String { "the key does not belong to the certificate" }
    }

    var certificatePEM: [UInt8] { get throws { Array((try certificate.serializeAsPEM().pemString + "\n").utf8) } }
    var keyPEM: [UInt8] { Array((key.pemRepresentation + "\n").utf8) }
}
