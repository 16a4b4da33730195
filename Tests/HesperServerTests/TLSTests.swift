import HesperModel
import HummingbirdCore
import NIOCore
import NIOEmbedded
import NIOHTTPTypesHTTP1
import NIOTLS
import Testing

@testable import HesperServer

/// TLS before there is a request. The rest is in the black-box tests.
@Suite struct TLSTests {
    @Test func aHandshakeTimesOut() throws {
        let channel = EmbeddedChannel(handler: HandshakeDeadline(seconds: 15))
        try channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 443)).wait()
        channel.embeddedEventLoop.advanceTime(by: .seconds(14))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func afterTheHandshakeThereIsNoDeadline() throws {
        let channel = EmbeddedChannel(handler: HandshakeDeadline(seconds: 15))
        try channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 443)).wait()
        channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: "h2"))
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        #expect(throws: (any Error).self) { try channel.pipeline.syncOperations.handler(type: HandshakeDeadline.self) }
        _ = try channel.finish()
    }

    @Test func aShutdownDoesNotWaitForHandshakes() throws {
        let channel = EmbeddedChannel(handler: HandshakeDeadline(seconds: 15))
        try channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 443)).wait()
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        channel.embeddedEventLoop.run()
        #expect(!channel.isActive)
    }

    /// A new channel from an address, before its handshake.
    private static func silent(from address: String, to secure: SecureChannel) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.connect(to: try SocketAddress(ipAddress: address, port: 443)).wait()
        _ = secure.setup(channel: channel, logger: TestServer.silent)
        channel.embeddedEventLoop.run()
        return channel
    }

    /// A silent connection has a permit until it closes. Further ones are closed before they cost a handshake.
    @Test func connectionsAreCountedBeforeTheHandshake() throws {
        var limits = ConnectionLimits()
        limits.perAddress = 3
        let permits = ConnectionPermits(limits: limits, proxies: [try #require(AddressRange("198.51.100.0/24"))])
        let http1 = HTTP1Channel(responder: { _, _, _ in })
        let secure = SecureChannel(
            certificate: try TestCertificate.selfSigned(), http1: http1,
            http2: HTTP2Connection(limits: limits, permits: permits, streamPermits: permits, http1: http1),
            handshakeSeconds: limits.handshakeSeconds)
        let silent = { address in try TLSTests.silent(from: address, to: secure) }
        var open = try (0..<3).map { _ in try silent("192.0.2.1") }
        for _ in 0..<20 { #expect(try !silent("192.0.2.1").isActive) }
        // Other addresses have permits of their own, and proxies are not limited.
        open.append(try silent("192.0.2.2"))
        open += try (0..<20).map { _ in try silent("198.51.100.7") }
        #expect(open.allSatisfy { $0.isActive })
        #expect(permits.addressCount == 2)
        // After the timeouts of the handshake and of the TLS shutdown.
        for channel in open { channel.embeddedEventLoop.advanceTime(by: .seconds(60)) }
        #expect(!open.contains { $0.isActive })
        #expect(permits.addressCount == 0)
        let again = try silent("192.0.2.1")
        #expect(again.isActive)
        again.embeddedEventLoop.advanceTime(by: .seconds(60))
    }

    @Test func connectionsAreNotCountedAgainAfterTheHandshake() throws {
        var limits = ConnectionLimits()
        limits.perAddress = 2
        let permits = ConnectionPermits(limits: limits)
        let channel = EmbeddedChannel()
        let remote = try SocketAddress(ipAddress: "192.0.2.1", port: 443)
        try channel.connect(to: remote).wait()
        let address = ClientAddress(remote)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(try #require(ConnectionPermit(of: address, from: permits)))
        try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: true))
        try pipeline.addHandler(ConnectionGuard(limits: limits, permits: permits))
        #expect(permits.tryAcquire(address) && !permits.tryAcquire(address))
        permits.release(address)
        _ = try? channel.finish(acceptAlreadyClosed: true)
        #expect(permits.addressCount == 0)
    }

    @Test(
        arguments: [
            ("notes.example.org", "notes.example.org"), ("notes.example.org:8080", "notes.example.org"),
            ("127.0.0.1:80", "127.0.0.1"), ("[::1]:80", "[::1]"), ("[2001:db8::1]", "[2001:db8::1]"), ("", nil),
            (":80", nil), ("[::1", nil), ("a@b", nil), ("a/b", nil), ("a b", nil), ("ä", nil),
        ] as [(String, String?)]) func theRedirectKeepsTheHost(_ authority: String, _ name: String?)
    {
        #expect(PlainRedirect.name(authority) == name)
    }
}
