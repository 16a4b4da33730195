import Foundation

/// Blocking loopback sockets for proxies between a test and its server. Each connection uses its own threads.
enum Loopback {
    struct Failure: Error { let call: String, code: Int32 }

    #if canImport(Darwin)
        private static let stream = SOCK_STREAM
        private static let noSignal: Int32 = 0
    #else
        private static let stream = Int32(SOCK_STREAM.rawValue)
        private static let noSignal = Int32(MSG_NOSIGNAL)
    #endif

    /// Creates a listening socket.
    /// - Parameter port: 0 for a free port.
    static func listen(port: Int = 0) throws -> (descriptor: Int32, port: Int) {
        let descriptor = try check("socket", socket(AF_INET, stream, 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        do {
            try withUnsafeMutablePointer(to: &address) { pointer in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    try check("bind", bind(descriptor, $0, length))
                    try check("listen", Foundation.listen(descriptor, 128))
                    try check("getsockname", getsockname(descriptor, $0, &length))
                }
            }
        } catch {
            close(descriptor)
            throw error
        }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// A port that was free just now. It is not one of those that the system gives to connections and to listeners on port 0, so that
    /// it is probably still free a few seconds later.
    static func freePort() throws -> Int {
        for _ in 0..<100 {
            guard let (descriptor, port) = try? listen(port: .random(in: 12_000..<30_000)) else { continue }
            close(descriptor)
            return port
        }
        throw Failure(call: "listen", code: EADDRINUSE)
    }

    static func connect(to port: Int) throws -> Int32 {
        let descriptor = try check("socket", socket(AF_INET, stream, 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        _ = try withUnsafePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try check("connect", Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)))
            }
        }
        return descriptor
    }

    /// Receives bytes; nil at the end of the stream.
    static func receive(_ descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? Array(bytes[..<count]) : nil
    }

    /// - Returns: whether everything was sent.
    static func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, noSignal) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    @discardableResult
    private static func check(_ call: String, _ result: Int32) throws -> Int32 {
        guard result >= 0 else { throw Failure(call: call, code: errno) }
        return result
    }
}
