import Foundation
import HesperServer
import NIOCore

/// The address on which a server listens, as a URL for messages to users.
struct ListeningAddress {
    let host: String
    let port: Int
    let isSecure: Bool

    /// - Parameter port: the port on which the server actually listens; nil for the configured port.
    init(_ settings: ServerSettings, port: Int?) {
        host = settings.host
        self.port = port ?? settings.port
        isSecure = settings.tls != nil
    }

    /// The URL of the server, such as `http://127.0.0.1:8080`.
    var origin: String { origin(of: host) }

    /// The URL of the server for a browser on this machine. It has `localhost` instead of `0.0.0.0`, to which not all systems
    /// can connect.
    var link: String { origin(of: ["0.0.0.0", "::"].contains(host) ? "localhost" : host) }

    private func origin(of host: String) -> String {
        let host = host.contains(":") ? "[\(host)]" : host
        return "\(isSecure ? "https" : "http")://\(host):\(port)"
    }

    /// Returns a failure with a message for the user if the error means that the server cannot listen on this address. Returns
    /// nil for other errors.
    /// - Parameter setting: the setting that selects the port.
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
