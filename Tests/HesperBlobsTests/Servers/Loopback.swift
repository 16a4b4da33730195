import Foundation

/// Blocking loopback sockets, for test servers with a thread per connection.
enum Loopback {
    struct Failure: Error { let call: String, code: Int32 }

    #if canImport(Darwin)
        private static let stream = SOCK_STREAM
    #else
        private static let stream = Int32(SOCK_STREAM.rawValue)
    #endif

    /// - Parameter port: 0 for any free port.
    static func listen(port: UInt16 = 0) throws -> (descriptor: Int32, port: Int) {
        let descriptor = try check("socket", socket(AF_INET, stream, 0))
        var address = address(port)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try check("bind", bind(descriptor, $0, length))
                try check("listen", Foundation.listen(descriptor, 128))
                try check("getsockname", getsockname(descriptor, $0, &length))
            }
        }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    static func connect(to port: Int) throws -> Int32 {
        let descriptor = try check("socket", socket(AF_INET, stream, 0))
        var address = address(UInt16(port))
        _ = try withUnsafePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try check("connect", Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)))
            }
        }
        return descriptor
    }

    /// Ports that are currently free.
    static func freePorts(_ count: Int) throws -> [Int] {
        let sockets = try (0..<count).map { _ in try listen() }
        for socket in sockets { close(socket.descriptor) }
        return sockets.map(\.port)
    }

    /// The received bytes. Nil when the connection is closed.
    static func receive(_ descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? Array(bytes[..<count]) : nil
    }

    /// - Returns: whether all bytes were sent.
    static func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, noSignal) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Shuts the connection down, which unblocks readers and writers on both sides.
    static func end(_ descriptor: Int32) { shutdown(descriptor, Int32(SHUT_RDWR)) }

    #if canImport(Darwin)
        private static let noSignal: Int32 = 0
    #else
        private static let noSignal = Int32(MSG_NOSIGNAL)
    #endif

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    @discardableResult
    private static func check(_ call: String, _ result: Int32) throws -> Int32 {
        guard result >= 0 else { throw Failure(call: call, code: errno) }
        return result
    }
}
