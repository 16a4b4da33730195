import HTTPTypes
import Hummingbird
import NIOCore

/// The proxies whose headers about the client (`X-Forwarded-…`) are trusted. Such headers from other addresses are ignored.
struct TrustedProxies: Sendable {
    let ranges: [AddressRange]

    private func trusts(_ address: IPAddress) -> Bool { ranges.contains { $0.contains(address) } }

    /// The address of the client. If the connection is from a trusted proxy, this is the last address in `X-Forwarded-For` that
    /// is not a trusted proxy, because earlier addresses may be forged. Otherwise it is the address of the connection.
    func client(of request: Request, from peer: SocketAddress?) -> ClientAddress {
        guard var client = IPAddress(peer) else { return ClientAddress(ip: nil) }
        guard !ranges.isEmpty, let header = request.headers[.xForwardedFor] else { return ClientAddress(ip: client) }
        for hop in header.split(separator: ",").reversed() {
            guard trusts(client), let next = IPAddress(hop: hop.trimmed) else { break }
            client = next
        }
        return ClientAddress(ip: client)
    }

    /// The request as the client sent it to the proxy, with scheme and host from `X-Forwarded-Proto` and `X-Forwarded-Host`. The
    /// scheme of the result comes from the connection or from a trusted proxy, never from the client.
    /// - Parameter isSecure: whether the connection itself uses TLS.
    func asSent(_ request: Request, from peer: SocketAddress?, isSecure: Bool) -> Request {
        var head = request.head
        head.scheme = isSecure ? "https" : "http"
        if !ranges.isEmpty, let peer = IPAddress(peer), trusts(peer) {
            let scheme = request.headers[.xForwardedProto]?.lastOfList.lowercased()
            if let scheme, ["http", "https"].contains(scheme) { head.scheme = scheme }
            if let host = request.headers[.xForwardedHost]?.lastOfList, !host.isEmpty { head.authority = host }
        }
        guard head.scheme != request.head.scheme || head.authority != request.head.authority else { return request }
        return Request(head: head, body: request.body)
    }
}

extension Request {
    /// Whether the client uses TLS, either to this server or to the trusted proxy that forwarded the request.
    var isSecure: Bool { head.scheme == "https" }
}

extension String {
    /// The last element of a comma-separated list, which is the element that the nearest proxy wrote.
    fileprivate var lastOfList: String {
        split(separator: ",", omittingEmptySubsequences: false).last.map { String($0.trimmed) } ?? ""
    }
}

extension HTTPField.Name {
    static let xForwardedFor = HTTPField.Name("X-Forwarded-For") ?? .from
    static let xForwardedProto = HTTPField.Name("X-Forwarded-Proto") ?? .from
    static let xForwardedHost = HTTPField.Name("X-Forwarded-Host") ?? .from
}
