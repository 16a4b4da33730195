import Foundation
import Testing

/// A TCP connection that sends exactly the given bytes, for requests that no HTTP client sends.
final class RawConnection {
    private let socket: Int32

    init(port: Int) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(socket)
            throw Refused()
        }
        var timeout = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(socket) }

    struct Refused: Error {}

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Reads until `text` was received, the server closes the connection, or nothing was received for two minutes.
    func read(until text: String) -> String {
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let all = String(decoding: received, as: UTF8.self)
            if !text.isEmpty, all.contains(text) { return all }
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { return all }
            received += buffer[0..<count]
        }
    }

    /// Reads until the server closes the connection.
    func readToEnd() -> String { read(until: "") }
}
