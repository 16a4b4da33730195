import Foundation
import NIOSSL

/// A certificate chain and its private key, both in PEM files.
public struct TLSFiles: Sendable {
    public var certificate: String
    public var key: String
    /// Whether only those trust it who were told to by hand.
    public var isOwn: Bool

    public init(certificate: String, key: String, isOwn: Bool = false) {
        self.certificate = certificate
        self.key = key
        self.isOwn = isOwn
    }

    /// What is in the two files.
    struct Contents: Equatable {
        let certificate: [UInt8]
        let key: [UInt8]
    }

    /// - Throws: if a file cannot be read.
    func contents() throws -> Contents {
        Contents(
            certificate: Array(try Data(contentsOf: URL(filePath: certificate))),
            key: Array(try Data(contentsOf: URL(filePath: key))))
    }
}

extension TLSFiles.Contents {
    /// TLS 1.2 and 1.3, ciphers with forward secrecy and authentication alone, HTTP/2 before HTTP/1.1.
    /// - Throws: if there is no certificate, or the key is another's.
    func context() throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMBytes(certificate)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: key, format: .pem)))
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = TLSFiles.Contents.ciphers
        configuration.applicationProtocols = ["h2", "http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    /// Those of TLS 1.2; all of TLS 1.3's are of that kind (RFC 9325, 4.2).
    private static let ciphers: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]
}
