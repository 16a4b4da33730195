import HesperBlobs
import HesperServer

/// Settings that are wrong, or do not go together.
struct SettingsDiagnosis {
    let settings: Settings

    func all() -> [Diagnosis] {
        var found = settings.warnings.map(Diagnosis.warning)
        found += Diagnosis.trying {
            let server = try settings.server()
            let odd = try settings.ownCertificate()?.names.warning(host: server.host)
            return server.diagnoses + [odd].compactMap { $0 }.map(Diagnosis.warning)
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
            let place = try settings.attachments()
            guard case .postgres = try settings.database(), !S3Location.isMeant(by: place) else { return [] }
            return [
                .warning(
                    "Attachments are in the folder \(place): all servers on this database need that very one, or S3.")
            ]
        }
        return found.contains { $0.kind == .wrong } ? found : [.ok("The settings can be used.")] + found
    }
}

extension ServerSettings {
    /// What is odd about where a server listens, and for whom.
    var diagnoses: [Diagnosis] {
        var found: [Diagnosis] = []
        if !ServerSettings.isLoopback(host) {
            if tls == nil {
                found.append(
                    .warning(
                        "It listens on \(host) without TLS: passwords and notes can be read on the way. Set a certificate, have one made "
                            + "(HESPER_TLS=self-signed), or listen on 127.0.0.1 behind a proxy that has one."))
            }
            if signUp == .open {
                found.append(.warning("Whoever reaches \(host) can make an account: HESPER_SIGN_UP=closed."))
            }
        } else if signUpIsForThisMachine {
            found.append(
                .warning(
                    "Every user of this machine can make an account. Behind a proxy that sends neither the Host of the request nor "
                        + "X-Forwarded-For, so can everybody: set HESPER_SIGN_UP=closed."))
        } else if signUp == .open {
            found.append(
                .warning(
                    "Every user of this machine can make an account, and everybody whom a proxy lets in: set HESPER_SIGN_UP=closed "
                        + "unless that is meant."))
        }
        if passwords.cost < PasswordLimits().cost {
            found.append(
                .warning(
                    "Passwords cost less to try than OWASP asks for: HESPER_PASSWORD_COST=\(PasswordLimits().cost), unless the "
                        + "machine has too little memory."))
        }
        if let metrics, !ServerSettings.isLoopback(metrics.host) {
            found.append(.warning("Everybody who reaches \(metrics) gets the metrics: is that a network of your own?"))
        }
        return found
    }
}
