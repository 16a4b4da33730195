import Foundation
import HesperServer
import NIOCore

/// The address that a server listens on, in a form for users.
struct ListeningAddress {
    let host: String
    let port: Int
    let isSecure: Bool

    /// - Parameter port: the actual port. Nil for the configured one.
    init(_ settings: ServerSettings, port: Int?) {
        host = settings.host
        self.port = port ?? settings.port
        isSecure = settings.tls != nil
    }

    /// `http://127.0.0.1:8080`
    var origin: String { origin(of: host) }

    /// The same for a browser on this machine. Not all systems can connect to `0.0.0.0`.
    var link: String { origin(of: ["0.0.0.0", "::"].contains(host) ? "localhost" : host) }

    private func origin(of host: String) -> String {
        let host = host.contains(":") ? "[\(host)]" : host
        return "\(isSecure ? "https" : "http")://\(host):\(port)"
    }

    /// Converts an error of listening to a ``Failure``. Nil for other errors.
    /// - Parameter setting: the setting of the port.
    func failure(_ error: any Error, setting: Setting = .port) -> Failure? {
        if error is SocketAddressError || error is SocketAddressError.UnknownHost {
            return Failure("\(host) is not an address or host name of this machine. Set another one with --host.")
        }
        guard let error = error as? IOError else { return nil }
        switch error.errnoCode {
        case EADDRINUSE:
            return Failure("Port \(port) on \(host) is already in use. Choose another port with \(setting.flag).")
        case EACCES:
            return Failure(
                "This user has no permission to listen on port \(port) of \(host). Choose a port above 1023 with \(setting.flag)."
            )
        case EADDRNOTAVAIL: return Failure("\(host) is not an address of this machine. Set another one with --host.")
        default: return nil
        }
    }
}
