import Foundation

/// The certificate that Hesper makes for itself.
struct CertificateDiagnosis {
    let own: OwnCertificate

    /// Every device has to be told of another authority: that takes a while. In days.
    private static let notice = 90

    func all(now: Date = Date()) -> [Diagnosis] {
        let files = [OwnCertificate.authorityKey, OwnCertificate.serverKey]
        let found = ([own.folder.path] + files.map(own.folder.inside)).flatMap(openness)
        return found + Diagnosis.trying { try state(now: now) }
    }

    private func state(now: Date) throws -> [Diagnosis] {
        let state = try own.state(now: now)
        guard let authority = state.authority else {
            return [.ok("The next start makes an authority, and a certificate, in \(own.folder.path).")]
        }
        let end = authority.certificate.notValidAfter
        var found: [Diagnosis] = []
        if end < now + LocalAuthority.seconds(CertificateDiagnosis.notice) {
            found.append(
                .warning(
                    "The authority in \(own.folder.path) ends at \(end.ISO8601Format()): move the folder away before, and have all "
                        + "devices trust the one that the next start makes."))
        }
        guard let server = state.server else {
            return found + [.ok("The next start makes the certificate again; the authority stays.")]
        }
        let fingerprint = try authority.fingerprint
        let names = own.certified(by: authority).map(\.text).joined(separator: ", ")
        return found + [
            .ok(
                "The certificate is Hesper's own, for \(names); it holds until \(server.notValidAfter.ISO8601Format()). "
                    + "The authority: \(fingerprint).")
        ]
    }

    private func openness(_ path: String) -> [Diagnosis] {
        var status = stat()
        return lstat(path, &status) == 0 ? Diagnosis.openness(of: path, status) : []
    }
}
