import HesperStore
import NIOCore

/// What goes over a stream of events (WHATWG HTML, Server-sent events). What is sent as data is JSON of ours, which has no
/// line ends.
enum ServerSentEvent {
    /// Every event that a stream may have (protocol.md, Events).
    enum Name: String, CaseIterable {
        /// A page of changes.
        case changes
        /// A message of another device.
        case ephemeral
        /// The number of other devices that listen.
        case listeners
        /// The sync token is no longer good: the reader starts over.
        case expired
    }

    /// A sign of life, which readers pass over.
    static let ping = ByteBuffer(string: ": ping\n\n")

    static func bytes(_ name: Name, _ data: [UInt8]) -> ByteBuffer {
        var buffer = ByteBuffer()
        begin(name, in: &buffer)
        buffer.writeBytes(data)
        end(in: &buffer)
        return buffer
    }

    /// Where the data of an event begins.
    static func begin(_ name: Name, in buffer: inout ByteBuffer) {
        buffer.writeStaticString("event: ")
        buffer.writeString(name.rawValue)
        buffer.writeStaticString("\ndata: ")
    }

    /// - Parameter id: what the reader sends as `Last-Event-ID` when it comes back.
    static func end(id: String? = nil, in buffer: inout ByteBuffer) {
        if let id { buffer.writeString("\nid: \(id)") }
        buffer.writeStaticString("\n\n")
    }

    /// That the stream ends, and in how many milliseconds to come back.
    static func goodbye(_ end: ListenerUpdate.End) -> ByteBuffer? {
        switch end {
        // Not all at once, and not before another server had time to take over.
        case .shutdown: ByteBuffer(string: "retry: \(Int.random(in: 500...3_000))\n: the server stops\n\n")
        // Else it would end the next one as soon as that, and so on.
        case .replaced: ByteBuffer(string: "retry: 60000\n: this device has opened others since\n\n")
        case .signedOut, .disconnected: nil
        }
    }
}
