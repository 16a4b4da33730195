import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import HesperServer

/// Which forwarding headers are trusted.
@Suite struct TrustedProxiesTests {
    @Test(arguments: [
        ("192.0.2.7", ["192.0.2.7"], ["192.0.2.8", "::1"]),
        ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"], ["11.0.0.0", "9.255.255.255", "a00::"]),
        ("10.0.0.0/9", ["10.127.0.1"], ["10.128.0.1"]), ("192.0.2.4/30", ["192.0.2.7"], ["192.0.2.8", "192.0.2.3"]),
        ("0.0.0.0/0", ["192.0.2.1"], ["::1", "2001:db8::1"]), ("::/0", ["::1", "2001:db8::1", "192.0.2.1"], []),
        ("fd00::/8", ["fd12:3456::1"], ["fc00::1", "fe80::1"]), ("::1", ["::1"], ["::2", "127.0.0.1"]),
        ("2001:db8::/33", ["2001:db8:7fff::1"], ["2001:db8:8000::1"]),
    ]) func aRangeContainsItsAddresses(_ text: String, _ inside: [String], _ outside: [String]) throws {
        let range = try #require(AddressRange(text))
        for address in inside { #expect(range.contains(try #require(IPAddress(address))), "\(address)") }
        for address in outside { #expect(!range.contains(try #require(IPAddress(address))), "\(address)") }
    }

    @Test(arguments: [
        "", "/", "localhost", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8/8", "10.0.0.0/a", "10.0.0.1/8",
        "fd00::/129", "fd00::1/8", "10.0.0", "10.0.0.0 /8",
    ]) func invalidRanges(_ text: String) {
        #expect(AddressRange(text) == nil)
    }

    private static let proxies = TrustedProxies(
        ranges: ["127.0.0.1", "10.0.0.0/8", "fd00::/8"].compactMap { AddressRange($0) })

    private static func request(_ headers: HTTPFields) -> Request {
        Request(
            head: HTTPRequest(method: .get, scheme: "http", authority: "hesper:8080", path: "/", headerFields: headers),
            body: .init(buffer: ByteBuffer()))
    }

    /// The peer, `X-Forwarded-For`, and the resulting client.
    @Test(
        arguments: [
            ("127.0.0.1", nil, "127.0.0.1"), ("127.0.0.1", "192.0.2.7", "192.0.2.7"),
            // Only the last address is from the proxy.
            ("127.0.0.1", "198.51.100.1, 192.0.2.7", "192.0.2.7"), ("127.0.0.1", "127.0.0.1, 192.0.2.7", "192.0.2.7"),
            // A chain of trusted proxies.
            ("127.0.0.1", "192.0.2.7, 10.1.2.3", "192.0.2.7"),
            ("127.0.0.1", "6.6.6.6,192.0.2.7,10.1.2.3,10.9.9.9", "192.0.2.7"),
            ("127.0.0.1", "10.1.2.3", "10.1.2.3"), ("fd00::1", "192.0.2.7", "192.0.2.7"),
            // With ports, IPv6, and invalid addresses.
            ("127.0.0.1", "192.0.2.7:4711", "192.0.2.7"), ("127.0.0.1", "[2001:db8:1:2::9]:443", "2001:db8:1:2::"),
            ("127.0.0.1", "2001:db8:1:2:3::9", "2001:db8:1:2::"), ("127.0.0.1", "unknown", "127.0.0.1"),
            ("127.0.0.1", "192.0.2.7, unknown", "127.0.0.1"), ("127.0.0.1", "", "127.0.0.1"),
            ("127.0.0.1", ",,", "127.0.0.1"),
            // Headers of untrusted peers are ignored.
            ("192.0.2.66", "127.0.0.1", "192.0.2.66"), ("192.0.2.66", "198.51.100.1, 10.1.2.3", "192.0.2.66"),
        ] as [(String, String?, String)]) func theClientIsTheLastUntrustedAddress(
            _ peer: String, _ forwarded: String?, _ client: String
        ) throws
    {
        var headers = HTTPFields()
        if let forwarded { headers[.xForwardedFor] = forwarded }
        let peer = try SocketAddress(ipAddress: peer, port: 4711)
        let found = TrustedProxiesTests.proxies.client(of: TrustedProxiesTests.request(headers), from: peer)
        #expect(found.key == ClientAddress(ip: IPAddress(client)).key)
        #expect(
            TrustedProxies(ranges: []).client(of: TrustedProxiesTests.request(headers), from: peer).key
                == ClientAddress(peer).key)
    }

    /// The peer, the forwarding headers, and the resulting origin.
    @Test(
        arguments: [
            ("127.0.0.1", "https", "notes.example.org", "https://notes.example.org"),
            ("127.0.0.1", "HTTPS", "notes.example.org:8443", "https://notes.example.org:8443"),
            ("127.0.0.1", "http, https", "a.example, notes.example.org", "https://notes.example.org"),
            ("127.0.0.1", "https, http", nil, "http://hesper:8080"), ("127.0.0.1", "wss", "", "http://hesper:8080"),
            ("192.0.2.66", "https", "notes.example.org", "http://hesper:8080"),
        ] as [(String, String, String?, String)]) func schemeAndHostAreFromATrustedProxy(
            _ peer: String, _ scheme: String, _ host: String?, _ origin: String
        ) throws
    {
        var headers = HTTPFields()
        headers[.xForwardedProto] = scheme
        if let host { headers[.xForwardedHost] = host }
        let peer = try SocketAddress(ipAddress: peer, port: 4711)
        let sent = TrustedProxiesTests.proxies.asSent(TrustedProxiesTests.request(headers), from: peer, isSecure: false)
        #expect("\(sent.head.scheme ?? "")://\(sent.head.authority ?? "")" == origin)
    }

    /// In HTTP/2 a client can send any scheme.
    @Test func theSchemeIsNeverFromTheClient() throws {
        let peer = try SocketAddress(ipAddress: "192.0.2.66", port: 4711)
        for claimed in ["http", "https", "ftp", nil] {
            let head = HTTPRequest(method: .get, scheme: claimed, authority: "x", path: "/")
            let request = Request(head: head, body: .init(buffer: ByteBuffer()))
            #expect(TrustedProxiesTests.proxies.asSent(request, from: peer, isSecure: false).head.scheme == "http")
            #expect(TrustedProxiesTests.proxies.asSent(request, from: peer, isSecure: true).isSecure)
        }
    }

    /// Wrong passwords are counted for each client of a proxy, not for all together.
    @Test func limitsApplyToEachClientOfAProxy() async throws {
        let change: TestServer.Change = { settings in
            settings.trustedProxies = ["127.0.0.1", "::1"].compactMap { AddressRange($0) }
            settings.signIns.perAddress = Rate(burst: 2, perMinute: 0.01)
        }
        try await TestServer.test(.live, change) { client in
            _ = try await client.signedUp()
            func attempt(_ forwarded: String, _ email: String) async throws -> Int {
                let body = #"{"email":"\#(email)","password":"a wrong one","deviceName":"x"}"#
                return try await client.send(.post, "/v1/devices", body, headers: [.xForwardedFor: forwarded]).status
            }
            for round in 0..<2 { #expect(try await attempt("192.0.2.7", "a\(round)@example.org") == 401) }
            #expect(try await attempt("192.0.2.7", "b@example.org") == 429)
            #expect(try await attempt("198.51.100.1, 192.0.2.7", "c@example.org") == 429)
            #expect(try await attempt("192.0.2.8", "d@example.org") == 401)
        }
    }
}
