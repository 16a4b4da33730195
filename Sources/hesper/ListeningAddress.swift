import Foundation
import HesperServer
import NIOCore

/// Where a server listens, as people write it.
struct ListeningAddress {
    let host: String
    let port: Int
    let isSecure: Bool

    /// - Parameter port: the one that it really has; nil for the one that was asked for.
    init(_ settings: ServerSettings, port: Int?) {
        host = settings.host
        self.port = port ?? settings.port
        isSecure = settings.tls != nil
    }

    /// `http://127.0.0.1:8080`
    var origin: String { origin(of: host) }

    /// The same for a browser on this machine, which cannot open `0.0.0.0` everywhere.
    var link: String { origin(of: ["0.0.0.0", "::"].contains(host) ? "localhost" : host) }

    private func origin(of host: String) -> String {
        let host = host.contains(":") ? "[\(host)]" : host
        return "\(isSecure ? "https" : "http")://\(host):\(port)"
    }

    /// Why nothing can listen there, if that is what an error says.
    /// - Parameter setting: where the port is from.
    func failure(_ error: any Error, setting: Setting = .port) -> Failure? {
        if error is SocketAddressError || error is SocketAddressError.UnknownHost {
            return Failure("\(host) is not an address of this machine, nor a name for one: see --host.")
        }
        guard let error = error as? IOError else { return nil }
        switch error.errnoCode {
        case EADDRINUSE:
            return Failure("Port \(port) of \(host) is taken by another process: choose another with \(setting.flag).")
        case EACCES:
            return Failure("Port \(port) of \(host) is not for this user: choose one above 1023 with \(setting.flag).")
        case EADDRNOTAVAIL: return Failure("\(host) is not an address of this machine: see --host.")
        default: return nil
        }
    }
}
