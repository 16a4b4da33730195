import Foundation
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

    /// Makes the certificate again when its end is near, as long as the server runs.
    func keepGood(_ logger: Logger) async {
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: OwnCertificate.pause)
                if try await prepare().isNew { logger.notice("The certificate was made again, as its end was near.") }
            } catch is CancellationError {
                return
            } catch {
                logger.error("The certificate cannot be made again: \(error)")
            }
        }
    }

    private static let pause = Duration.seconds(86_400)
}
