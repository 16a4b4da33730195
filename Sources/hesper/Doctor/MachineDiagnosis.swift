import Foundation
import HesperModel
import HesperServer

/// Checks the certificate, the clock and the limit of open files.
struct MachineDiagnosis {
    let settings: Settings

    /// Warnings begin this number of milliseconds before a certificate expires. Automatic renewal usually begins earlier. If a
    /// certificate has not been renewed by this time, the renewal has probably failed several times.
    private static let notice: Int64 = 14 * 86_400_000

    func all() -> [Diagnosis] { certificate() + clock() + files() }

    private func certificate() -> [Diagnosis] {
        guard let files = (try? settings.server())?.tls else { return [] }
        if let own = try? settings.ownCertificate() { return CertificateDiagnosis(own: own).all() }
        do {
            let end = try files.validUntil()
            if end < .now { return [.wrong("The certificate \(files.certificate) expired at \(end). Renew it.")] }
            if end < Timestamp.now.adding(MachineDiagnosis.notice) {
                return [.warning("The certificate \(files.certificate) expires at \(end). Renew it.")]
            }
            return [.ok("The certificate matches its key and is valid until \(end).")]
        } catch {
            return [.wrong("Cannot use the certificate and key: \(error)")]
        }
    }

    /// Reports the machine's clock as wrong if it shows a time before this binary was built. A server whose clock is behind refuses
    /// edits of devices with a correct clock (merge.md, Clocks).
    private func clock() -> [Diagnosis] {
        let attributes = try? FileManager.default.attributesOfItem(atPath: ShareFolder.binary)
        if let built = attributes?[.modificationDate] as? Date, built > Date() {
            return [
                .wrong(
                    "The clock shows \(Timestamp.now), which is before this version of Hesper was built. Set the clock, and use NTP."
                )
            ]
        }
        return [.ok("The clock shows \(Timestamp.now).")]
    }

    private func files() -> [Diagnosis] {
        guard let server = try? settings.server(), let files = OpenFiles.raise(for: server.connections.count) else {
            return []
        }
        return [
            .warning(
                "Only \(files) files and connections may be open at the same time (ulimit -n). Some clients may have to wait."
            )
        ]
    }
}
