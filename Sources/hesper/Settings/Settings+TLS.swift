import Foundation
import HesperServer

extension Settings {
    /// Where the certificate is, whoever makes it; nil for plain HTTP.
    func tls() throws -> TLSFiles? {
        let certificate = try reader.string(.tlsCertificate)
        let key = try reader.string(.tlsKey)
        if let own = try ownCertificate() { return own.files }
        for found in [certificate, key].compactMap({ $0 }) {
            guard FileManager.default.isReadableFile(atPath: found.value) else {
                throw found.wrong("the file \(found.value) cannot be read.")
            }
        }
        switch (certificate, key) {
        case (nil, nil): return nil
        case (let certificate?, let key?): return TLSFiles(certificate: certificate.value, key: key.value)
        case (let found?, nil): throw found.wrong("a certificate needs its key: set \(Setting.tlsKey.flag) too.")
        case (nil, let found?):
            throw found.wrong("a key needs its certificate: set \(Setting.tlsCertificate.flag) too.")
        }
    }

    /// The certificate that Hesper makes for itself; nil if it is not to.
    func ownCertificate() throws -> OwnCertificate? {
        guard let found = try reader.string(.tls) else { return nil }
        guard found.value == Settings.selfSigned else {
            throw found.wrong("\(Settings.selfSigned) is wanted, not \"\(found.value)\".")
        }
        if let file = try reader.string(.tlsCertificate) ?? reader.string(.tlsKey) {
            throw found.wrong(
                "a certificate is made here or comes from files, not both: leave out this, or \(file.place).")
        }
        return OwnCertificate(data: data, names: ServerNames(wanted: try wantedNames()))
    }

    static let selfSigned = "self-signed"

    /// Names that people have been told, or will be.
    private func wantedNames() throws -> [CertificateName] {
        var names: [CertificateName] = []
        if let found = try reader.string(.host) {
            guard let name = CertificateName(found.value) else { throw found.wrong(Settings.noName(found.value)) }
            names.append(name)
        }
        if let found = try reader.string(.url), let url = try url() {
            guard url.lowercased().hasPrefix("https://") else {
                throw found.wrong("a server with a certificate is reached at https://…, not at \(url).")
            }
            let host = URLComponents(string: url)?.host ?? ""
            guard let name = CertificateName(host) else { throw found.wrong(Settings.noName(host)) }
            names.append(name)
        }
        return names
    }

    private static func noName(_ host: String) -> String {
        "\"\(host)\" is neither an address nor a name that a certificate can have: letters beyond ASCII are written xn--…."
    }

    func httpPort(_ settings: ServerSettings) throws -> Int? {
        guard let found = try reader.integer(.httpPort) else { return nil }
        guard settings.tls != nil else {
            throw found.wrong(
                "plain HTTP is sent on to TLS, which needs a certificate: set \(Setting.tlsCertificate.flag), or "
                    + "\(Setting.tls.flag) \(Settings.selfSigned), too.")
        }
        guard settings.port != 0, settings.port != found.value else {
            throw found.wrong("plain HTTP is sent on to the port of TLS: set \(Setting.port.flag) to another one.")
        }
        return found.value
    }
}
