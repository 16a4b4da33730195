import HTTPTypes
import HesperModel
import HummingbirdCore
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import HesperServer

/// Slow clients on HTTP/2 connections, with a clock that the test controls, and limits on streams. Floods and protocol violations
/// are in the black-box tests.
@Suite struct HTTP2ConnectionTests {
    @Test func aSilentConnectionTimesOut() throws {
        #expect(try Connection().secondsToTheEnd() == 75)
    }

    @Test func anIncompletePrefaceTimesOut() throws {
        #expect(try Connection().secondsToTheEnd(sending: bytes(preface), every: 5) == 75)
    }

    /// The end is announced, and the client has two seconds to respond. Frames other than requests do not extend the time.
    @Test(arguments: [false, true]) func aConnectionWithoutRequestsTimesOut(_ pings: Bool) throws {
        let connection = try Connection()
        try connection.send(preface + frame(.settings))
        let ping = frame(.ping, [UInt8](repeating: 7, count: 8))
        #expect(try connection.secondsToTheEnd(sending: pings ? [[UInt8]](repeating: ping, count: 100) : []) == 77)
    }

    struct SlowHead: Sendable, CustomTestStringConvertible {
        let name: String
        let pieces: [[UInt8]]
        var pause = 5
        var testDescription: String { name }
    }

    static let slowHeads = [
        SlowHead(
            name: "a frame, byte by byte",
            pieces: bytes(frame(.headers, flags: endOfHead, stream: 3, [UInt8](repeating: 0, count: 1_000)))),
        // NIO treats more frames as a flood.
        SlowHead(
            name: "frame by frame",
            pieces: [frame(.headers, stream: 3, head)]
                + [[UInt8]](repeating: frame(.continuation, stream: 3, [0x40, 1, 97, 1, 98]), count: 100), pause: 20),
        SlowHead(name: "half a head", pieces: [frame(.headers, stream: 3, head)]),
        SlowHead(name: "settings", pieces: bytes(frame(.settings, [UInt8](repeating: 0, count: 600)))),
        SlowHead(name: "a frame's header", pieces: [[0], [0]]),
    ]

    /// Another open stream does not extend the time.
    @Test(arguments: slowHeads) func anIncompleteHeadTimesOut(_ slow: SlowHead) throws {
        let connection = try Connection.withOpenStream()
        #expect(try connection.secondsToTheEnd(sending: slow.pieces, every: slow.pause) == 75)
    }

    /// The same setting applies to HTTP/1.1.
    @Test func theTimeoutIsConfigurable() throws {
        var limits = ConnectionLimits()
        limits.idleSeconds = 1
        #expect(try Connection.withOpenStream(limits).secondsToTheEnd(sending: [[0, 0]]) == 1)
    }

    /// Each frame and each head has a timeout of its own, even if there is always an incomplete one.
    @Test func manySlowHeadsDoNotTimeOut() throws {
        let connection = try Connection.withOpenStream()
        let all = (0..<20).flatMap { number in
            frame(.headers, flags: endOfHead | endOfStream, stream: UInt8(3 + 2 * number), head)
                + frame(.ping, [UInt8](repeating: 7, count: 8))
        }
        // No piece ends at the end of a frame: frames have 12 and 17 bytes.
        let pieces = stride(from: 0, to: all.count - 1, by: 10).map { Array(all[$0..<min($0 + 10, all.count - 1)]) }
        #expect(try connection.secondsToTheEnd(sending: pieces, every: 20, atMost: 20 * pieces.count) == nil)
    }

    /// Bodies have a separate timeout, which ends a request and not the connection.
    @Test func aSlowBodyDoesNotCountAsAHead() throws {
        let connection = try Connection.withOpenStream()
        let body = frame(.data, stream: 1, [UInt8](repeating: 32, count: 40))
        let pieces = [Array(body.prefix(9))] + bytes(Array(body.dropFirst(9)))
        #expect(try connection.secondsToTheEnd(sending: pieces, every: 5, atMost: 200) == nil)
    }

    /// NIO reports a stream as writable while the rest of a short response fits into the buffer.
    @Test(arguments: [false, true]) func aShortResponseThatIsNotReadTimesOut(_ isRead: Bool) throws {
        let (window, limits) = (Window(), ConnectionLimits())
        let stream = EmbeddedChannel(
            handlers: [window, ConnectionGuard(limits: limits, permits: ConnectionPermits(limits: limits))])
        try stream.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 443)).wait()
        let request = HTTPRequest(method: .get, scheme: "https", authority: "x", path: "/")
        try stream.writeInbound(HTTPRequestPart.head(request))
        try stream.writeInbound(HTTPRequestPart.end(nil))
        stream.write(HTTPResponsePart.head(HTTPResponse(status: .ok)), promise: nil)
        stream.write(HTTPResponsePart.body(ByteBuffer(string: "short")), promise: nil)
        stream.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
        stream.embeddedEventLoop.advanceTime(by: .seconds(59))
        #expect(stream.isActive)
        if isRead { window.open() }
        stream.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(stream.isActive == isRead)
        _ = try? stream.finish(acceptAlreadyClosed: true)
    }

    /// Streams are counted on all connections of an address. A refused request can be sent again once others have finished.
    @Test func streamsPerAddressAreLimited() throws {
        var limits = ConnectionLimits()
        limits.streamsPerAddress = 3
        let streams = ConnectionPermits(limits: limits, of: \.streamsPerAddress)
        let one = try Connection.withOpenStream(limits, streams)
        let other = try Connection.withOpenStream(limits, streams)
        func open(_ stream: UInt8) -> [UInt8] { frame(.headers, flags: endOfHead, stream: stream, head) }
        #expect(try one.responses(to: open(3)).isEmpty)
        // A window update may follow.
        #expect(try other.responses(to: open(3)).starts(with: frame(.reset, stream: 3, [0, 0, 0, 7])))
        let elsewhere = try Connection.withOpenStream(limits, streams, from: "192.0.2.2")
        #expect(try elsewhere.responses(to: open(3)).isEmpty)
        try one.send(frame(.reset, stream: 3, [0, 0, 0, 8]))
        #expect(try other.responses(to: open(5)).isEmpty)
        #expect(try other.responses(to: open(7)) == frame(.reset, stream: 7, [0, 0, 0, 7]))
        try one.end()
        #expect(try other.responses(to: open(9)).isEmpty)
        for connection in [other, elsewhere] { try connection.end() }
        #expect(streams.addressCount == 0)
    }
}

/// Simulates a client's flow-control window that is closed until it is opened.
private final class Window: ChannelDuplexHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart

    private var waiting: [EventLoopPromise<Void>] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if let promise { waiting.append(promise) }
    }

    func open() {
        for promise in waiting { promise.succeed() }
        waiting = []
    }

    func channelInactive(context: ChannelHandlerContext) {
        for promise in waiting { promise.fail(ChannelError.eof) }
        waiting = []
        context.fireChannelInactive()
    }
}

private let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
/// `:method: GET`, `:scheme: https`, `:path: /` by their indices in HPACK's table (RFC 7541, Appendix A).
private let head: [UInt8] = [0x82, 0x87, 0x84]
private let (endOfStream, endOfHead): (UInt8, UInt8) = (1, 4)

private enum FrameType: UInt8 {
    case data = 0
    case headers = 1
    case reset = 3
    case settings = 4
    case ping = 6
    case continuation = 9
}

private func frame(_ type: FrameType, flags: UInt8 = 0, stream: UInt8 = 0, _ payload: [UInt8] = []) -> [UInt8] {
    [0, UInt8(payload.count >> 8), UInt8(payload.count & 0xff), type.rawValue, flags, 0, 0, 0, stream] + payload
}

private func bytes(_ bytes: [UInt8]) -> [[UInt8]] { bytes.map { [$0] } }

/// A connection after its handshake.
private final class Connection {
    private let channel = EmbeddedChannel()
    /// Retained, as by a server: streams are released when the connection ends.
    private let streams: HTTP2Connection.Streams

    init(
        _ limits: ConnectionLimits = ConnectionLimits(), _ streamPermits: ConnectionPermits? = nil,
        from address: String = "192.0.2.1"
    ) throws {
        try channel.connect(to: try SocketAddress(ipAddress: address, port: 443)).wait()
        let http1 = HTTP1Channel(responder: { _, _, _ in })
        let permits = ConnectionPermits(limits: limits)
        let http2 = HTTP2Connection(
            limits: limits, permits: permits, streamPermits: streamPermits ?? permits, http1: http1)
        streams = try http2.setup(channel: channel)
    }

    deinit { _ = try? channel.finish(acceptAlreadyClosed: true) }

    /// A connection with a request whose body is incomplete, so that it is not idle.
    static func withOpenStream(
        _ limits: ConnectionLimits = ConnectionLimits(), _ streamPermits: ConnectionPermits? = nil,
        from address: String = "192.0.2.1"
    ) throws -> Connection {
        let connection = try Connection(limits, streamPermits, from: address)
        try connection.send(preface + frame(.settings) + frame(.headers, flags: endOfHead, stream: 1, head))
        #expect(connection.channel.isActive)
        return connection
    }

    func send(_ bytes: [UInt8]) throws {
        try channel.writeInbound(ByteBuffer(bytes: bytes))
        channel.embeddedEventLoop.run()
    }

    /// Sends bytes and returns the server's response.
    func responses(to bytes: [UInt8]) throws -> [UInt8] {
        while try channel.readOutbound(as: IOData.self) != nil {}
        try send(bytes)
        var responses: [UInt8] = []
        while case .byteBuffer(let buffer)? = try channel.readOutbound(as: IOData.self) {
            responses += Array(buffer: buffer)
        }
        return responses
    }

    func end() throws {
        channel.close(promise: nil)
        channel.embeddedEventLoop.run()
    }

    /// Advances the clock in steps of a second.
    /// - Parameter pieces: sent during that time, one every `pause` seconds.
    /// - Returns: the time until the connection ended, in seconds; nil if it did not.
    func secondsToTheEnd(
        sending pieces: [[UInt8]] = [], every pause: Int = 1, atMost most: Int = 1_000
    ) throws -> Int? {
        for second in 0..<most {
            if second % pause == 0, second / pause < pieces.count { try send(pieces[second / pause]) }
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            if !channel.isActive { return second + 1 }
        }
        return nil
    }
}
