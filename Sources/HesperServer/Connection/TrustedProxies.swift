import HTTPTypes
import Hummingbird
import NIOCore

/// The proxies whose word is taken for where a request comes from and whom it asks. What anybody else says of that is
/// passed over.
struct TrustedProxies: Sendable {
    let ranges: [AddressRange]

    private func trusts(_ address: IPAddress) -> Bool { ranges.contains { $0.contains(address) } }

    /// Who sent a request: the last address of `X-Forwarded-For` that is no proxy of ours. Those before it anybody can have
    /// written.
    func client(of request: Request, from peer: SocketAddress?) -> ClientAddress {
        guard var client = IPAddress(peer) else { return ClientAddress(ip: nil) }
        guard !ranges.isEmpty, let header = request.headers[.xForwardedFor] else { return ClientAddress(ip: client) }
        for hop in header.split(separator: ",").reversed() {
            guard trusts(client), let next = IPAddress(hop: hop.trimmed) else { break }
            client = next
        }
        return ClientAddress(ip: client)
    }

    /// The request as the client sent it to the proxy: scheme and host of `X-Forwarded-Proto` and `-Host`. From here on the scheme
    /// of a request is what its connection has, or a proxy of ours says, and never what the client says.
    /// - Parameter isSecure: whether the connection itself has TLS.
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
    /// Whether its client speaks TLS, to this server or to a proxy of ours.
    var isSecure: Bool { head.scheme == "https" }
}

extension String {
    /// The nearest proxy writes last.
    fileprivate var lastOfList: String {
        split(separator: ",", omittingEmptySubsequences: false).last.map { String($0.trimmed) } ?? ""
    }
}

extension HTTPField.Name {
    static let xForwardedFor = HTTPField.Name("X-Forwarded-For") ?? .from
    static let xForwardedProto = HTTPField.Name("X-Forwarded-Proto") ?? .from
    static let xForwardedHost = HTTPField.Name("X-Forwarded-Host") ?? .from
}
