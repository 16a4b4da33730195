import Foundation
import HesperBlobs
import HesperServer
import X509

/// The certificate that Hesper makes for itself, and the authority that vouches for it: what is in the folder `tls` of the data.
struct OwnCertificate: Sendable {
    let folder: PrivateFolder
    let names: ServerNames

    static let (authority, authorityKey) = ("authority.pem", "authority.key")
    static let (server, serverKey) = ("server.pem", "server.key")

    /// Days before its end from which on a certificate is made again.
    static let daysToRenew = 30

    /// - Parameter data: the folder of the data.
    init(data: String, names: ServerNames) {
        folder = PrivateFolder(path: OwnCertificate.folder(in: data))
        self.names = names
    }

    /// The folder, whether it is there or not.
    static func folder(in data: String) -> String { URL(filePath: data).appending(path: "tls").relativePath }

    /// What the server reads, and reads again when it is made again.
    var files: TLSFiles {
        TLSFiles(
            certificate: folder.inside(OwnCertificate.server), key: folder.inside(OwnCertificate.serverKey),
            isOwn: true)
    }

    /// What is in the folder, as far as it is of use.
    struct State: Sendable {
        /// Nil if there is none yet.
        var authority: LocalAuthority?
        /// Nil if one has to be made.
        var server: Certificate?
    }

    /// Looks, and changes nothing.
    /// - Throws: ``Failure`` if there is an authority that cannot be used: perhaps somebody trusts it, so no other takes its place unasked.
    func state(now: Date) throws -> State {
        guard let authority = try knownAuthority() else { return State() }
        let end = authority.certificate.notValidAfter
        guard end > now else { throw unusable("it ended at \(end.ISO8601Format())") }
        if let name = names.wanted.first(where: { !authority.vouches(for: $0) }) {
            throw unusable("it was made without the name \(name.text), and cannot vouch for it")
        }
        return State(authority: authority, server: try serverCertificate(of: authority, now: now))
    }

    /// Makes what is missing, or is good no longer, durably.
    /// - Returns: what is there now, and whether the server's certificate is new.
    /// - Throws: ``Failure``, and what the disk says.
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

    /// Every name that the authority may vouch for: all that are wanted, and most of the usual ones.
    func certified(by authority: LocalAuthority) -> [CertificateName] { names.all.filter(authority.vouches) }

    // MARK: The files

    private func knownAuthority() throws -> LocalAuthority? {
        guard let certificate = try folder.contents(of: OwnCertificate.authority) else {
            // The key is written first: while it is alone, nobody has trusted it. What it vouched for comes last.
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

    /// - Returns: nil if there is none that will do for a while.
    private func serverCertificate(of authority: LocalAuthority, now: Date) throws -> Certificate? {
        guard let certificate = try folder.contents(of: OwnCertificate.server),
            let key = try folder.contents(of: OwnCertificate.serverKey),
            let found = try? CertificatePair(certificate: certificate, key: key).certificate,
            authority.hasSigned(found), let names = try? found.extensions.subjectAlternativeNames,
            Set(names) == Set(certified(by: authority).map(\.general))
        else { return nil }
        // A clock that went back leaves one that is not good yet.
        let soon = min(now + LocalAuthority.seconds(OwnCertificate.daysToRenew), authority.certificate.notValidAfter)
        return found.notValidBefore <= now && soon <= found.notValidAfter ? found : nil
    }

    /// Servers that start at once on one folder take turns.
    private func locked() async throws -> FolderLock {
        for _ in 0..<200 {
            if let lock = try FolderLock(folder.path) { return lock }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Failure("Another process has been writing to \(folder.path) for ten seconds: try again.")
    }

    private func unusable(_ why: String) -> Failure {
        Failure(
            "The authority in \(folder.path) cannot be used: \(why). Put right what is wrong, or move the folder away: then another "
                + "authority is made, which has to be trusted anew on every device.", .settings)
    }
}
