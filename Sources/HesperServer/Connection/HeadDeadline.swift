import NIOCore

/// Closes an HTTP/2 connection on which the client's preface, a frame other than `DATA`, or a head of several frames takes too
/// long to arrive.
///
/// NIO passes on only complete frames and heads, and other streams keep the connection from being idle. So this handler is placed
/// before NIO's, and reads the length and type of each frame.
final class HeadDeadline: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let seconds: Int
    private var frames = FrameCount()
    private var deadline: Scheduled<Void>?
    /// The number of complete units when the deadline was set.
    private var awaited = 0

    init(seconds: Int) { self.seconds = seconds }

    func handlerAdded(context: ChannelHandlerContext) { updateDeadline(context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unwrapInboundIn(data).withUnsafeReadableBytes { frames.count($0) }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Most heads are complete by now and need no timer.
        updateDeadline(context)
        context.fireChannelReadComplete()
    }

    private func updateDeadline(_ context: ChannelHandlerContext) {
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

/// Follows the frames that a client sends, by the nine bytes of their headers (RFC 9113, 3.4, 4.1 and 4.3).
struct FrameCount {
    /// The number of complete units: the preface, frames, and heads of several frames, which count as one.
    private(set) var whole = 0
    /// The bytes of the preface that are missing.
    private var preface = 24
    /// The received bytes of a frame's header.
    private var header: [UInt8] = []
    /// The bytes of a frame's payload that are missing.
    private var payload = 0
    private var isBody = false
    /// Whether the last frame of a head is missing.
    private var isInHead = false

    private static let headerBytes = 9
    private static let (data, headers, continuation): (UInt8, UInt8, UInt8) = (0, 1, 9)
    private static let endOfHead: UInt8 = 4

    /// Whether a unit has begun and is not complete. Bodies are not counted, as they have a deadline of their own.
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
