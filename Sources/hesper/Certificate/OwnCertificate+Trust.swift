import Foundation
import HesperServer
import Logging

extension OwnCertificate {
    /// Instructions for operators to make devices trust the certificate of the server, one line each.
    func instructions(_ authority: LocalAuthority) throws -> [String] {
        let path = URL(filePath: folder.inside(OwnCertificate.authority)).standardizedFileURL.path
        let file = path.contains(" ") ? "'\(path)'" : path
        let fingerprint = try authority.fingerprint
        return [
            "The certificate is self-signed. Make devices trust the authority in \(path). Its SHA-256 fingerprint:",
            "  \(fingerprint)",
            "  curl:    curl --cacert \(file) …",
            "  Debian:  sudo cp \(file) /usr/local/share/ca-certificates/hesper.crt && sudo update-ca-certificates",
            "  macOS:   sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain \(file)",
            "  Firefox: Settings, Privacy & Security, View Certificates, Authorities, Import; for websites",
        ]
    }

    /// A service that renews the certificate before it expires, while the server runs.
    func renewal(_ logger: Logger) -> BackgroundLoop {
        BackgroundLoop("Certificate renewal", every: OwnCertificate.pause, logger: logger) {
            if try await prepare().isNew { logger.notice("Self-signed certificate renewed") }
        }
    }

    private static let pause = Duration.seconds(86_400)
}
