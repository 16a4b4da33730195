import Foundation
import HesperServer

extension Settings {
    /// The files of the certificate and its key. Nil if the server uses plain HTTP.
    func tls() throws -> TLSFiles? {
        let certificate = try reader.string(.tlsCertificate)
        let key = try reader.string(.tlsKey)
        if let own = try ownCertificate() { return own.files }
        for found in [certificate, key].compactMap({ $0 }) {
            guard FileManager.default.isReadableFile(atPath: found.value) else {
                throw found.failure("cannot read the file \(found.value).")
            }
        }
        switch (certificate, key) {
        case (nil, nil): return nil
        case (let certificate?, let key?): return TLSFiles(certificate: certificate.value, key: key.value)
        case (let found?, nil): throw found.failure("a certificate requires its key. Set \(Setting.tlsKey.flag) too.")
        case (nil, let found?):
            throw found.failure("a key requires its certificate. Set \(Setting.tlsCertificate.flag) too.")
        }
    }

    /// The certificate that Hesper creates and signs itself. Nil if the operator has not enabled it.
    func ownCertificate() throws -> OwnCertificate? {
        guard let found = try reader.string(.tls) else { return nil }
        guard found.value == Settings.selfSigned else {
            throw found.failure("must be \(Settings.selfSigned), not \"\(found.value)\".")
        }
        if let file = try reader.string(.tlsCertificate) ?? reader.string(.tlsKey) {
            throw found.failure(
                "a self-signed certificate cannot be combined with certificate files. Remove this setting or \(file.location)."
            )
        }
        return OwnCertificate(data: data, names: ServerNames(configured: try configuredNames()))
    }

    static let selfSigned = "self-signed"

    /// The names or addresses of the server in the settings `host` and `url`. Empty if neither of these settings is set.
    private func configuredNames() throws -> [CertificateName] {
        var names: [CertificateName] = []
        if let found = try reader.string(.host) {
            guard let name = CertificateName(found.value) else {
                throw found.failure(Settings.invalidName(found.value))
            }
            names.append(name)
        }
        if let found = try reader.string(.url), let url = try url() {
            guard url.lowercased().hasPrefix("https://") else {
                throw found.failure("must start with https:// for a server with a certificate, not \(url).")
            }
            let host = URLComponents(string: url)?.host ?? ""
            guard let name = CertificateName(host) else { throw found.failure(Settings.invalidName(host)) }
            names.append(name)
        }
        return names
    }

    private static func invalidName(_ host: String) -> String {
        "\"\(host)\" is not an address or a valid name for a certificate. Write non-ASCII names in their xn-- form."
    }

    func httpPort(_ settings: ServerSettings) throws -> Int? {
        guard let found = try reader.integer(.httpPort) else { return nil }
        guard settings.tls != nil else {
            throw found.failure(
                "redirecting plain HTTP requires a certificate. Set \(Setting.tlsCertificate.flag), or "
                    + "\(Setting.tls.flag) \(Settings.selfSigned), too.")
        }
        guard settings.port != 0 else {
            throw found.failure("requires a fixed port for HTTPS. Set \(Setting.port.flag) to a port other than 0.")
        }
        guard settings.port != found.value else {
            throw found.failure("is also the port for HTTPS. Set \(Setting.port.flag) to another port.")
        }
        return found.value
    }
}
