import Foundation
import HesperBlobs
import HesperServer
import X509

/// The certificate that the server creates for itself, and the authority that signs this certificate. Both are stored in the
/// folder `tls` of the data folder.
struct OwnCertificate: Sendable {
    let folder: PrivateFolder
    let names: ServerNames

    static let (authority, authorityKey) = ("authority.pem", "authority.key")
    static let (server, serverKey) = ("server.pem", "server.key")

    /// A certificate is renewed this number of days before it expires.
    static let daysToRenew = 30

    /// Locates the certificates of an installation.
    /// - Parameter data: the data folder.
    init(data: String, names: ServerNames) {
        folder = PrivateFolder(path: OwnCertificate.folder(in: data))
        self.names = names
    }

    /// The folder in which the certificates are stored. It may not exist yet.
    static func folder(in data: String) -> String { URL(filePath: data).appending(path: "tls").relativePath }

    /// The certificate and key files that the server reads. The server reloads them after a renewal.
    var files: TLSFiles {
        TLSFiles(
            certificate: folder.inside(OwnCertificate.server), key: folder.inside(OwnCertificate.serverKey),
            isOwn: true)
    }

    /// The usable certificates in the folder.
    struct State: Sendable {
        /// The local authority; nil if it does not exist yet.
        var authority: LocalAuthority?
        /// The certificate of the server; nil if it must be created or renewed.
        var server: Certificate?
    }

    /// Reads the current state without changing anything.
    /// - Throws: ``Failure`` if the authority exists but cannot be used. Devices may trust it, so it is not replaced
    ///   automatically.
    func state(now: Date) throws -> State {
        guard let authority = try knownAuthority() else { return State() }
        let end = authority.certificate.notValidAfter
        guard end > now else { throw unusable("it expired at \(end.ISO8601Format())") }
        if let name = names.configured.first(where: { !authority.allows($0) }) {
            throw unusable("it was created without the name \(name.text) and cannot sign a certificate for that name")
        }
        return State(authority: authority, server: try serverCertificate(of: authority, now: now))
    }

    /// Creates or renews the certificates if necessary, and ensures that they are on disk.
    /// - Returns: the authority, and whether the certificate of the server is new.
    /// - Throws: ``Failure``, and errors of the file system.
    func prepare(now: Date = Date()) async throws -> (authority: LocalAuthority, isNew: Bool) {
        try folder.make()
        let lock = try await locked()
        defer { withExtendedLifetime(lock) {} }
        let state = try state(now: now)
        let authority = try state.authority ?? makeAuthority(now: now)
        if state.server != nil { return (authority, false) }
        let pair = try authority.serverCertificate(for: certified(by: authority), now: now)
        try folder.put(pair.keyPEM, as: OwnCertificate.serverKey)
        try folder.put(try pair.certificatePEM, as: OwnCertificate.server)
        return (authority, true)
    }

    /// The names in the certificate: all configured names, and the default names that the authority allows.
    func certified(by authority: LocalAuthority) -> [CertificateName] { names.all.filter(authority.allows) }

    // MARK: The files

    private func knownAuthority() throws -> LocalAuthority? {
        guard let certificate = try folder.contents(of: OwnCertificate.authority) else {
            // The authority's certificate does not exist. It is always written before the server's certificate. Therefore, if the
            // server's certificate exists, the authority's certificate was lost. If the server's certificate does not exist either,
            // no authority was ever used, and a new one can be created.
            guard try folder.contents(of: OwnCertificate.server) == nil else {
                throw unusable("\(OwnCertificate.authority) is missing")
            }
            return nil
        }
        guard let key = try folder.contents(of: OwnCertificate.authorityKey) else {
            throw unusable("\(OwnCertificate.authorityKey) is missing")
        }
        do {
            return LocalAuthority(try CertificatePair(certificate: certificate, key: key))
        } catch {
            throw unusable("it cannot be read: \(error)")
        }
    }

    private func makeAuthority(now: Date) throws -> LocalAuthority {
        let authority = try LocalAuthority(for: names.all, now: now)
        try folder.put(authority.pair.keyPEM, as: OwnCertificate.authorityKey)
        try folder.put(try authority.pair.certificatePEM, as: OwnCertificate.authority)
        return authority
    }

    /// The stored certificate of the server.
    /// - Returns: nil if there is no certificate, or if it does not match the authority or the names, or expires too soon.
    private func serverCertificate(of authority: LocalAuthority, now: Date) throws -> Certificate? {
        guard let certificate = try folder.contents(of: OwnCertificate.server),
            let key = try folder.contents(of: OwnCertificate.serverKey),
            let found = try? CertificatePair(certificate: certificate, key: key).certificate,
            authority.hasSigned(found), let names = try? found.extensions.subjectAlternativeNames,
            Set(names) == Set(certified(by: authority).map(\.general))
        else { return nil }
        // A certificate that is not valid yet cannot be used. This happens if the clock was set back.
        let soon = min(now + LocalAuthority.seconds(OwnCertificate.daysToRenew), authority.certificate.notValidAfter)
        return found.notValidBefore <= now && soon <= found.notValidAfter ? found : nil
    }

    /// Locks the folder, so that processes that start at the same time do not create certificates concurrently.
    private func locked() async throws -> FolderLock {
        for _ in 0..<200 {
            if let lock = try FolderLock(folder.path) { return lock }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Failure("\(folder.path) is in use by another process. Try again.")
    }

    private func unusable(_ reason: String) -> Failure {
        Failure(
            "The certificate authority in \(folder.path) cannot be used: \(reason). Correct the problem, or move the folder away to "
                + "create a new authority, which must then be trusted on every device.", .settings)
    }
}
