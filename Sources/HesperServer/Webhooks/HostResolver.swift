import Foundation
import NIOCore
import NIOPosix

/// Resolves host names with the operating system, on separate threads, because a look-up can block for a long time.
enum HostResolver {
    /// The time in which a look-up must end.
    static let timeout = TimeAmount.seconds(5)

    /// The threads for look-ups. They are separate, so that slow look-ups do not occupy the threads that read and write files.
    private static let pool = {
        let pool = NIOThreadPool(numberOfThreads: 4)
        pool.start()
        return pool
    }()

    /// Returns all addresses of a host, in the operating system's order of preference.
    /// - Throws: ``WebhookFailure``.
    static func addresses(of host: String) async throws -> [IPAddress] {
        let promise = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: [IPAddress].self)
        // The timer and the look-up both complete the promise. Only the first result has an effect.
        let timer = promise.futureResult.eventLoop.scheduleTask(in: timeout) {
            promise.fail(WebhookFailure.unresolved)
        }
        defer { timer.cancel() }
        pool.submit { state in
            guard case .active = state, let found = lookUp(host), !found.isEmpty else {
                return promise.fail(WebhookFailure.unresolved)
            }
            promise.succeed(found)
        }
        return try await promise.futureResult.get()
    }

    private static func lookUp(_ host: String) -> [IPAddress]? {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &first) == 0 else { return nil }
        defer { freeaddrinfo(first) }
        var found: [IPAddress] = []
        var next = first
        while let info = next?.pointee {
            next = info.ai_next
            guard let address = info.ai_addr, let ip = ipAddress(address, info.ai_family), !found.contains(ip) else {
                continue
            }
            found.append(ip)
        }
        return found
    }

    private static func ipAddress(_ address: UnsafeMutablePointer<sockaddr>, _ family: Int32) -> IPAddress? {
        switch family {
        case AF_INET:
            address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { IPAddress(SocketAddress($0.pointee)) }
        case AF_INET6:
            address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { IPAddress(SocketAddress($0.pointee)) }
        default: nil
        }
    }
}
