import HesperStore
import NIOCore

/// Encodes server-sent events (WHATWG HTML, Server-sent events). The data is JSON without line breaks.
enum ServerSentEvent {
    /// The names of all events that a stream may contain (protocol.md, Events).
    enum Name: String, CaseIterable {
        /// The event contains a page of changes.
        case changes
        /// The event contains a message from another device.
        case ephemeral
        /// The event contains the progress of the account's import.
        case `import`
        /// The event contains the number of other devices that are listening.
        case listeners
        /// The sync token has expired, so the reader must start over.
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

    /// The bytes that the server sends before it ends a stream: a comment, and the number of milliseconds after which the client
    /// should reconnect. Nil if nothing is sent.
    static func closing(_ end: ListenerUpdate.End) -> ByteBuffer? {
        switch end {
        // The time is random, so that clients do not all reconnect at the same moment. It is at least half a second, because
        // another server may not be ready earlier.
        case .shutdown: ByteBuffer(string: "retry: \(Int.random(in: 500...3_000))\n: the server is shutting down\n\n")
        // The device has opened one stream too many, so its oldest stream, this one, ends. If the client reconnected at once, the
        // device would again have one stream too many, and another of its streams would end. The long delay prevents this loop.
        case .replaced: ByteBuffer(string: "retry: 60000\n: replaced by newer streams of this device\n\n")
        case .signedOut, .disconnected: nil
        }
    }
}
