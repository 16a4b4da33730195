import Foundation

/// The names and addresses that clients may use for a server.
struct ServerNames: Sendable, Equatable {
    /// The names set by the operator. The certificate must contain all of them.
    let configured: [CertificateName]
    /// Default names, included if the authority allows them. The host name of a container changes with each start.
    let defaults: [CertificateName]

    /// - Parameter machine: the host name of the machine.
    init(configured: [CertificateName], machine: String = ServerNames.machine) {
        self.configured = configured.filter { !$0.isUnspecified }
        defaults = ["localhost", "127.0.0.1", "::1", machine].compactMap { CertificateName($0) }
    }

    /// All names without duplicates.
    var all: [CertificateName] {
        (defaults + configured).reduce(into: []) { names, name in if !names.contains(name) { names.append(name) } }
    }

    /// A warning if clients may need a name that the certificate does not contain.
    /// - Parameter host: the address that the server listens on.
    func warning(host: String) -> String? {
        guard CertificateName(host)?.isUnspecified == true, configured.isEmpty else { return nil }
        return
            "The certificate may not contain the name or address that clients use for this server. Set it with HESPER_URL, "
            + "for example https://192.168.1.20:8080."
    }

    /// The host name of the machine, without a DNS lookup.
    static var machine: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "localhost" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
