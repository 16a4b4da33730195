import Foundation
import HesperServer
import Logging

extension OwnCertificate {
    /// What to do on a device so that it trusts the server.
    func instructions(_ authority: LocalAuthority) throws -> [String] {
        let path = URL(filePath: folder.inside(OwnCertificate.authority)).standardizedFileURL.path
        let file = path.contains(" ") ? "'\(path)'" : path
        let fingerprint = try authority.fingerprint
        return [
            "Its certificate is its own: devices have to trust the authority in \(path), once. SHA-256 of that:",
            "  \(fingerprint)",
            "  curl:    curl --cacert \(file) …",
            "  Debian:  sudo cp \(file) /usr/local/share/ca-certificates/hesper.crt && sudo update-ca-certificates",
            "  macOS:   sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain \(file)",
            "  Firefox: Settings, Privacy & Security, View Certificates, Authorities, Import; for websites",
        ]
    }

    /// Renews the certificate when its end is near, while the server runs.
    func renewal(_ logger: Logger) -> BackgroundLoop {
        BackgroundLoop("Renewing the certificate", every: OwnCertificate.pause, logger: logger) {
            if try await prepare().isNew { logger.notice("The certificate was made again, as its end was near.") }
        }
    }

    private static let pause = Duration.seconds(86_400)
}
