import Crypto
import Foundation
import SwiftASN1
import X509

@testable import HesperServer

/// A certificate for tests in which no client verifies it.
enum TestCertificate {
    /// A new self-signed certificate. Its files are deleted after they were read.
    static func selfSigned() throws -> ServerCertificate {
        let folder = URL(filePath: ".build/server-tests").appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("a test") }
        let now = Date.now
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: now - 3_600, notValidAfter: now + 3_600, issuer: name, subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
            }, issuerPrivateKey: Certificate.PrivateKey(key))
        let files = TLSFiles(
            certificate: folder.appending(path: "certificate.pem").path, key: folder.appending(path: "key.pem").path)
        try certificate.serializeAsPEM().pemString.write(toFile: files.certificate, atomically: true, encoding: .utf8)
        try key.pemRepresentation.write(toFile: files.key, atomically: true, encoding: .utf8)
        return try ServerCertificate(files, logger: TestServer.silent)
    }
}
