import Foundation

/// The names and addresses that clients may use for a server.
struct ServerNames: Sendable, Equatable {
    /// The names that the operator set. The certificate must contain all of them.
    let configured: [CertificateName]
    /// The default names. The certificate leaves out those that the authority does not allow. For example, a container may get a
    /// new host name at each start, and an existing authority usually does not allow the new name.
    let defaults: [CertificateName]

    /// - Parameter machine: the host name of the machine.
    init(configured: [CertificateName], machine: String = ServerNames.machine) {
        self.configured = configured.filter { !$0.isUnspecified }
        defaults = ["localhost", "127.0.0.1", "::1", machine].compactMap { CertificateName($0) }
    }

    /// The default and configured names, without duplicates.
    var all: [CertificateName] {
        (defaults + configured).reduce(into: []) { names, name in if !names.contains(name) { names.append(name) } }
    }

    /// A warning if clients may use a name that the certificate does not contain; nil otherwise.
    /// - Parameter host: the address on which the server listens.
    func warning(host: String) -> String? {
        guard CertificateName(host)?.isUnspecified == true, configured.isEmpty else { return nil }
        return
            "The certificate possibly lacks the name or address that clients use for this server. Set that name with "
            + "HESPER_URL, for example https://192.168.1.20:8080."
    }

    /// The host name of this machine, as the system reports it without a DNS lookup.
    static var machine: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "localhost" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
