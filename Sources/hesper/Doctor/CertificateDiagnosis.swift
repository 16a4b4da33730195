import Foundation

/// Checks the certificate that the server creates for itself, and its authority.
struct CertificateDiagnosis {
    let own: OwnCertificate

    /// Warnings begin this number of days before the authority expires. Replacing the authority takes time, because every device
    /// must trust the new one.
    private static let notice = 90

    func all(now: Date = Date()) -> [Diagnosis] {
        let files = [OwnCertificate.authorityKey, OwnCertificate.serverKey]
        let found = ([own.folder.path] + files.map(own.folder.inside)).flatMap(openness)
        return found + Diagnosis.trying { try state(now: now) }
    }

    private func state(now: Date) throws -> [Diagnosis] {
        let state = try own.state(now: now)
        guard let authority = state.authority else {
            return [
                .ok(
                    "The server creates a certificate authority and a certificate in \(own.folder.path) when it starts."
                )
            ]
        }
        let end = authority.certificate.notValidAfter
        var found: [Diagnosis] = []
        if end < now + LocalAuthority.seconds(CertificateDiagnosis.notice) {
            found.append(
                .warning(
                    "The certificate authority in \(own.folder.path) expires at \(end.ISO8601Format()). Before that, move the folder "
                        + "away, and make all devices trust the new authority that the server creates then."))
        }
        guard let server = state.server else {
            return found + [.ok("The server renews the certificate when it starts. The authority is unchanged.")]
        }
        let fingerprint = try authority.fingerprint
        let names = own.certified(by: authority).map(\.text).joined(separator: ", ")
        return found + [
            .ok(
                "The self-signed certificate for \(names) is valid until \(server.notValidAfter.ISO8601Format()). "
                    + "Fingerprint of the authority: \(fingerprint).")
        ]
    }

    private func openness(_ path: String) -> [Diagnosis] {
        var status = stat()
        return lstat(path, &status) == 0 ? Diagnosis.openness(of: path, status) : []
    }
}
