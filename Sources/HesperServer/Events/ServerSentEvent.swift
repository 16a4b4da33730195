import HesperStore
import NIOCore

/// Encodes server-sent events (WHATWG HTML, Server-sent events). The data is JSON without line breaks.
enum ServerSentEvent {
    /// All events of a stream (protocol.md, Events).
    enum Name: String, CaseIterable {
        /// A page of changes.
        case changes
        /// A message of another device.
        case ephemeral
        /// The number of other listening devices.
        case listeners
        /// The sync token has expired; the reader must start over.
        case expired
    }

    /// A comment that keeps the connection alive. Readers ignore it.
    static let ping = ByteBuffer(string: ": ping\n\n")

    static func bytes(_ name: Name, _ data: [UInt8]) -> ByteBuffer {
        var buffer = ByteBuffer()
        begin(name, in: &buffer)
        buffer.writeBytes(data)
        end(in: &buffer)
        return buffer
    }

    /// Writes the start of an event, up to its data.
    static func begin(_ name: Name, in buffer: inout ByteBuffer) {
        buffer.writeStaticString("event: ")
        buffer.writeString(name.rawValue)
        buffer.writeStaticString("\ndata: ")
    }

    /// Writes the end of an event.
    /// - Parameter id: the ID that the reader sends as `Last-Event-ID` when it reconnects.
    static func end(id: String? = nil, in buffer: inout ByteBuffer) {
        if let id { buffer.writeString("\nid: \(id)") }
        buffer.writeStaticString("\n\n")
    }

    /// The last bytes of a stream that the server ends, with the time after which to reconnect, in milliseconds.
    static func closing(_ end: ListenerUpdate.End) -> ByteBuffer? {
        switch end {
        // Clients must not reconnect all at the same time, nor before another server had time to take over.
        case .shutdown: ByteBuffer(string: "retry: \(Int.random(in: 500...3_000))\n: the server is shutting down\n\n")
        // The device's own newer streams replaced this one. Without the delay, it would replace one of them immediately.
        case .replaced: ByteBuffer(string: "retry: 60000\n: replaced by newer streams of this device\n\n")
        case .signedOut, .disconnected: nil
        }
    }
}
