import HesperBlobs
import HesperServer

/// Checks for invalid and conflicting settings.
struct SettingsDiagnosis {
    let settings: Settings

    func all() -> [Diagnosis] {
        var found = settings.warnings.map(Diagnosis.warning)
        found += Diagnosis.trying {
            let server = try settings.server()
            let nameWarning = try settings.ownCertificate()?.names.warning(host: server.host)
            return server.diagnoses + [nameWarning].compactMap { $0 }.map(Diagnosis.warning)
        }
        found += Diagnosis.trying {
            _ = (try settings.logLevel(), try settings.logFormat())
            _ = try settings.backupSchedule()
            return []
        }
        found += Diagnosis.trying {
            ShareFolder.find(named: try settings.publicFolder()).missing.map(Diagnosis.warning)
        }
        found += Diagnosis.trying {
            let location = try settings.attachments()
            guard case .postgres = try settings.database(), !S3Location.isURL(location) else { return [] }
            return [
                .warning(
                    "Attachments are in the folder \(location). All servers on this database must use the same folder, or S3."
                )
            ]
        }
        return found.contains { $0.kind == .wrong } ? found : [.ok("The settings are valid.")] + found
    }
}

extension ServerSettings {
    /// Warnings about the address, the sign-up policy, the password cost and the address for metrics.
    var diagnoses: [Diagnosis] {
        var found: [Diagnosis] = []
        if !ServerSettings.isLoopback(host) {
            if tls == nil {
                found.append(
                    .warning(
                        "The server listens on \(host) without TLS, so passwords and notes can be intercepted. Set a certificate, use a "
                            + "self-signed one (HESPER_TLS=self-signed), or listen on 127.0.0.1 behind a proxy with TLS."
                    ))
            }
            if signUp == .open {
                found.append(
                    .warning("Everyone who can connect to \(host) can create an account. Set HESPER_SIGN_UP=closed."))
            }
        } else if signUpIsForThisMachine {
            found.append(
                .warning(
                    "All users of this machine can create accounts. If the server is behind a proxy that sends neither the original "
                        + "Host header nor X-Forwarded-For, all clients of the proxy can too. In that case set HESPER_SIGN_UP=closed."
                ))
        } else if signUp == .open {
            found.append(
                .warning(
                    "All users of this machine, and all clients of a proxy, can create accounts. Set HESPER_SIGN_UP=closed unless this "
                        + "is intended."))
        }
        if passwords.cost < PasswordLimits().cost {
            found.append(
                .warning(
                    "The password cost is below the recommendation of OWASP. Set HESPER_PASSWORD_COST=\(PasswordLimits().cost), unless "
                        + "the machine has too little memory."))
        }
        if let metrics, !ServerSettings.isLoopback(metrics.host) {
            found.append(
                .warning(
                    "Metrics are available to everyone who can connect to \(metrics). Make sure that the network is private."
                ))
        }
        return found
    }
}
