import Foundation
import HesperModel
import HesperServer

/// What the machine brings: certificate, clock, open files.
struct MachineDiagnosis {
    let settings: Settings

    /// Two weeks before the end whatever renews certificates has failed for a while.
    private static let notice: Int64 = 14 * 86_400_000

    func all() -> [Diagnosis] { certificate() + clock() + files() }

    private func certificate() -> [Diagnosis] {
        guard let files = (try? settings.server())?.tls else { return [] }
        if let own = try? settings.ownCertificate() { return CertificateDiagnosis(own: own).all() }
        do {
            let end = try files.validUntil()
            if end < .now { return [.wrong("The certificate \(files.certificate) ended at \(end): renew it.")] }
            if end < Timestamp.now.adding(MachineDiagnosis.notice) {
                return [.warning("The certificate \(files.certificate) ends at \(end): renew it.")]
            }
            return [.ok("The certificate goes with its key, and holds until \(end).")]
        } catch {
            return [.wrong("The certificate or its key is no good: \(error)")]
        }
    }

    /// A server whose clock is behind refuses devices whose clocks are right (merge.md, Clocks). What has come since this
    /// Hesper was built, or since the last push, is known to be past.
    private func clock() -> [Diagnosis] {
        let attributes = try? FileManager.default.attributesOfItem(atPath: ShareFolder.binary)
        if let built = attributes?[.modificationDate] as? Date, built > Date() {
            return [
                .wrong(
                    "The clock says \(Timestamp.now), which was before this Hesper was built: set it, and let NTP keep it."
                )
            ]
        }
        return [.ok("The clock says \(Timestamp.now); devices count on it.")]
    }

    private func files() -> [Diagnosis] {
        guard let server = try? settings.server(), let files = OpenFiles.raise(for: server.connections.count) else {
            return []
        }
        return [
            .warning(
                "Only \(files) files and connections may be open at once (ulimit -n): some clients may have to wait.")
        ]
    }
}
