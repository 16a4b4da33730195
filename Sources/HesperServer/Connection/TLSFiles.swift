import Foundation
import NIOSSL

/// A certificate chain and its private key, both in PEM files.
public struct TLSFiles: Sendable {
    public var certificate: String
    public var key: String
    /// Whether Hesper's own certificate authority issued the certificate. Browsers trust this authority only if it was installed.
    public var isOwn: Bool

    public init(certificate: String, key: String, isOwn: Bool = false) {
        self.certificate = certificate
        self.key = key
        self.isOwn = isOwn
    }

    /// The contents of the certificate file and of the key file.
    struct Contents: Equatable {
        let certificate: [UInt8]
        let key: [UInt8]
    }

    /// Reads the certificate file and the key file.
    /// - Throws: an error if a file cannot be read.
    func contents() throws -> Contents {
        Contents(
            certificate: Array(try Data(contentsOf: URL(filePath: certificate))),
            key: Array(try Data(contentsOf: URL(filePath: key))))
    }
}

extension TLSFiles.Contents {
    /// A TLS context for versions 1.2 and 1.3, with authenticated ciphers that have forward secrecy. It prefers HTTP/2 to
    /// HTTP/1.1.
    /// - Throws: an error if there is no certificate, or the key does not match it.
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

    /// The ciphers for TLS 1.2. Like all ciphers of TLS 1.3, they are authenticated and have forward secrecy (RFC 9325, 4.2).
    private static let ciphers: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]
}
