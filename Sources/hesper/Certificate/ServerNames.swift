import Foundation

/// Under which names people may reach a server.
struct ServerNames: Sendable, Equatable {
    /// What the operator has set: the certificate is of no use without them.
    let wanted: [CertificateName]
    /// What holds anyway, as far as the authority may vouch for it: the name of a container is another after each start.
    let usual: [CertificateName]

    /// - Parameter machine: the machine's own name.
    init(wanted: [CertificateName], machine: String = ServerNames.machine) {
        self.wanted = wanted.filter { !$0.isEverywhere }
        usual = ["localhost", "127.0.0.1", "::1", machine].compactMap { CertificateName($0) }
    }

    /// All of them, each once.
    var all: [CertificateName] {
        (usual + wanted).reduce(into: []) { names, name in if !names.contains(name) { names.append(name) } }
    }

    /// What is odd about them; nil for nothing.
    /// - Parameter host: where the server listens.
    func warning(host: String) -> String? {
        guard CertificateName(host)?.isEverywhere == true, wanted.isEmpty else { return nil }
        return
            "Others reach \(host) by a name or an address that the certificate may not have: say with HESPER_URL which it is, "
            + "such as https://192.168.1.20:8080."
    }

    /// What the machine calls itself, without asking the network.
    static var machine: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "localhost" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
