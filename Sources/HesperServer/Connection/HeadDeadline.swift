import NIOCore

/// Closes an HTTP/2 connection on which one of these takes too long to arrive: the preface (the first bytes from the client), a
/// frame other than `DATA`, or a head that consists of several frames.
///
/// NIO passes on only complete frames and heads, and its idle timeout does not apply while other streams are active. This handler
/// is therefore placed before NIO's handlers, and reads the length and type of each frame itself.
final class HeadDeadline: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let seconds: Int
    private var frames = FrameCount()
    private var deadline: Scheduled<Void>?
    /// The value of ``FrameCount/whole`` when the deadline was set. If the count has increased since, a new deadline is set.
    private var awaited = 0

    init(seconds: Int) { self.seconds = seconds }

    func handlerAdded(context: ChannelHandlerContext) { updateDeadline(context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unwrapInboundIn(data).withUnsafeReadableBytes { frames.count($0) }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // The timer is set only after all received data was processed. Most heads are complete by then and need no timer.
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

/// Counts the frames that a client sends, using the nine bytes of each frame's header (RFC 9113, 3.4, 4.1 and 4.3).
struct FrameCount {
    /// The number of units that have arrived completely. A unit is the preface, a frame, or all frames of one head.
    private(set) var whole = 0
    /// The number of bytes of the preface that have not arrived yet.
    private var preface = 24
    /// The bytes of the current frame's header that have arrived.
    private var header: [UInt8] = []
    /// The number of bytes of the current frame's payload that have not arrived yet.
    private var payload = 0
    private var isBody = false
    /// Whether a head has begun and its last frame has not arrived yet.
    private var isInHead = false

    private static let headerBytes = 9
    private static let (data, headers, continuation): (UInt8, UInt8, UInt8) = (0, 1, 9)
    private static let endOfHead: UInt8 = 4

    /// Whether the rest of a unit (the preface, a frame, or a head) still has to arrive. The payload of a `DATA` frame is ignored,
    /// because bodies have their own deadline.
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
