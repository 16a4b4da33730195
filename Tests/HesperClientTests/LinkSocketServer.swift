import Foundation
import HesperClient

/// An HTTP/1.1 server on a free loopback port, for the tests of the transport. Each connection serves one request.
final class LinkSocketServer: Sendable {
    struct Request: Sendable {
        var method = ""
        var path = ""
        /// By lowercase name.
        var headers: [String: String] = [:]
        var body: [UInt8] = []
    }

    let port: UInt16
    private let listener: Int32
    private let received = Locked<[Request]>([])

    /// The requests so far.
    var requests: [Request] { received.withLock { $0 } }
    var url: String { "http://127.0.0.1:\(port)" }

    /// Begins to listen.
    /// - Parameter respond: is called on a thread of its own for each request; the connection is closed when it
    ///   returns.
    init(_ respond: @escaping @Sendable (Request, LinkConnection) -> Void) throws {
        listener = try LinkSocketServer.socketOnLoopback()
        guard listen(listener, 16) == 0 else { throw POSIXError(.EADDRINUSE) }
        port = try LinkSocketServer.port(of: listener)
        Thread.detachNewThread { [listener, weak self] in
            // Closed here, so that no other socket gets its number while this thread can still accept from it.
            defer { close(listener) }
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { return }
                let connection = LinkConnection(descriptor)
                Thread.detachNewThread { [weak self] in
                    defer { close(descriptor) }
                    guard let request = connection.readRequest() else { return }
                    self?.received.withLock { $0.append(request) }
                    respond(request, connection)
                }
            }
        }
    }

    /// Ends the thread that accepts connections.
    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// A loopback port on which nothing listens. It is not one of those that the system gives to connections and to listeners on port
    /// 0, so that it is probably still unused a few seconds later.
    static func unusedPort() throws -> UInt16 {
        for _ in 0..<100 {
            let port = UInt16.random(in: 12_000..<30_000)
            guard let descriptor = try? socketOnLoopback(port: port) else { continue }
            close(descriptor)
            return port
        }
        throw POSIXError(.EADDRINUSE)
    }

    private static func socketOnLoopback(port: UInt16 = 0) throws -> Int32 {
        #if canImport(Darwin)
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            throw POSIXError(.EADDRINUSE)
        }
        return descriptor
    }

    private static func port(of descriptor: Int32) throws -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
        return UInt16(bigEndian: address.sin_port)
    }
}

/// A connection of ``LinkSocketServer``.
struct LinkConnection: Sendable {
    private let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        // Every wait in a test is bounded.
        var timeout = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    func write(_ text: String) { write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            #if canImport(Darwin)
                let flags: Int32 = 0
            #else
                let flags = Int32(MSG_NOSIGNAL)
            #endif
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, flags) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    func respond(_ status: String, headers: String = "", _ body: String = "") {
        write("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\(headers)\r\n\(body)")
    }

    /// Waits until the client closes the connection, at most a minute.
    /// - Returns: whether it did.
    func waitForClose() -> Bool {
        var byte: UInt8 = 0
        while true {
            let count = recv(descriptor, &byte, 1, 0)
            if count == 0 { return true }
            if count < 0 { return errno == ECONNRESET }
        }
    }

    func readRequest() -> LinkSocketServer.Request? {
        var bytes: [UInt8] = []
        while true {
            if let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) {
                var request = LinkSocketServer.Request()
                let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
                let words = lines[0].split(separator: " ")
                guard words.count == 3 else { return nil }
                request.method = String(words[0])
                request.path = String(words[1])
                for line in lines.dropFirst() {
                    guard let colon = line.firstIndex(of: ":") else { return nil }
                    let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                    request.headers[line[..<colon].lowercased()] = value
                }
                request.body = Array(bytes[end.upperBound...])
                let length = request.headers["content-length"].flatMap { Int($0) } ?? 0
                if request.headers["expect"] != nil { write("HTTP/1.1 100 Continue\r\n\r\n") }
                while request.body.count < length {
                    guard let more = read() else { return nil }
                    request.body += more
                }
                return request
            }
            guard let more = read() else { return nil }
            bytes += more
        }
    }

    private func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }
}

/// A value that one thread sets and a test awaits, at most a minute.
final class LinkSignal<Value: Sendable>: Sendable {
    private let stream: AsyncStream<Value>
    private let continuation: AsyncStream<Value>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func send(_ value: Value) { continuation.yield(value) }

    /// The next value; nil if none comes in time.
    func next() async -> Value? {
        let deadline = Task { [continuation] in
            try await Task.sleep(for: .seconds(600))
            continuation.finish()
        }
        defer { deadline.cancel() }
        for await value in stream { return value }
        return nil
    }
}
