import NIOCore

/// Ends a connection of HTTP/2 on which anything but a body is longer on its way than the head of a request may be: the client's
/// preface, a frame, or a head that goes on in frame after frame.
///
/// NIO passes none of them on before they are whole, and another stream keeps the connection from being idle meanwhile. So this
/// stands before it, and reads of each frame how long it is and which.
final class HeadDeadline: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let seconds: Int
    private var frames = FrameCount()
    private var deadline: Scheduled<Void>?
    /// What the deadline is for: how many were whole before it.
    private var awaited = 0

    init(seconds: Int) { self.seconds = seconds }

    func handlerAdded(context: ChannelHandlerContext) { look(context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unwrapInboundIn(data).withUnsafeReadableBytes { frames.count($0) }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Most heads are here whole by now and need no timer.
        look(context)
        context.fireChannelReadComplete()
    }

    private func look(_ context: ChannelHandlerContext) {
        if deadline != nil, frames.isWaiting, frames.whole == awaited { return }
        deadline?.cancel()
        deadline = nil
        guard frames.isWaiting else { return }
        awaited = frames.whole
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(Int64(seconds))) {
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }
}

/// How far a client's side of HTTP/2 has come, by the first nine bytes of each frame (RFC 9113, 3.4, 4.1 and 4.3).
struct FrameCount {
    /// How many have come to their end: the preface, frames, and heads of several frames, which count as one.
    private(set) var whole = 0
    /// Bytes of the preface that are still to come.
    private var preface = 24
    /// The bytes of a frame's header that are here.
    private var header: [UInt8] = []
    /// Bytes of a frame that are still to come.
    private var payload = 0
    private var isBody = false
    /// Between the first frame of a head and its last.
    private var isInHead = false

    private static let headerBytes = 9
    private static let (data, headers, continuation): (UInt8, UInt8, UInt8) = (0, 1, 9)
    private static let endOfHead: UInt8 = 4

    /// Whether something has begun that is not whole, and is no body. Bodies have a deadline of their own.
    var isWaiting: Bool { preface > 0 || isInHead || !header.isEmpty || payload > 0 && !isBody }

    mutating func count(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            if preface > 0 {
                FrameCount.take(&rest, of: &preface)
                if preface == 0 { whole += 1 }
            } else if payload > 0 {
                FrameCount.take(&rest, of: &payload)
                if payload == 0 { frameEnded() }
            } else {
                header.append(rest.removeFirst())
                if header.count == FrameCount.headerBytes { frameBegan() }
            }
        }
    }

    private static func take(_ rest: inout Slice<UnsafeRawBufferPointer>, of missing: inout Int) {
        let taken = min(rest.count, missing)
        rest.removeFirst(taken)
        missing -= taken
    }

    private mutating func frameBegan() {
        payload = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        let type = header[3]
        isBody = type == FrameCount.data
        if type == FrameCount.headers || type == FrameCount.continuation {
            isInHead = header[4] & FrameCount.endOfHead == 0
        }
        header.removeAll(keepingCapacity: true)
        if payload == 0 { frameEnded() }
    }

    private mutating func frameEnded() {
        if !isInHead { whole += 1 }
    }
}
