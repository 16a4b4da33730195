import HesperModel
import NIOCore
import NIOEmbedded
import NIOTLS
import Testing

@testable import HesperServer

/// What of TLS is done before there is a request; the rest is in the black-box tests.
@Suite struct TLSTests {
    @Test func aHandshakeHasATime() throws {
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

    @Test func aServerThatStopsWaitsForNoHandshake() throws {
        let channel = EmbeddedChannel(handler: HandshakeDeadline(seconds: 15))
        try channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 443)).wait()
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        channel.embeddedEventLoop.run()
        #expect(!channel.isActive)
    }

    @Test(
        arguments: [
            ("notes.example.org", "notes.example.org"), ("notes.example.org:8080", "notes.example.org"),
            ("127.0.0.1:80", "127.0.0.1"), ("[::1]:80", "[::1]"), ("[2001:db8::1]", "[2001:db8::1]"), ("", nil),
            (":80", nil), ("[::1", nil), ("a@b", nil), ("a/b", nil), ("a b", nil), ("ä", nil),
        ] as [(String, String?)]) func theRedirectNamesTheHostThatWasAsked(_ authority: String, _ name: String?)
    {
        #expect(PlainRedirect.name(authority) == name)
    }
}
