import HesperModel
import HesperStore
import Hummingbird
import NIOCore

/// `POST /v1/ephemeral`: sends a message to the account's other devices through their event streams, for example to tell them
/// that the user is typing in a note. The message is not stored (protocol.md, Events).
struct Ephemerals: Resource {
    let hub: EventHub
    private let limiter: RateLimiter<NodeID>
    /// The maximum size of the request, in bytes. It allows for JSON escapes, which are longer than the characters that they
    /// stand for.
    private static let bodyBytes = 8 * Limits.ephemeralBytes

    init(hub: EventHub, rate: Rate) {
        self.hub = hub
        limiter = RateLimiter(rate)
    }

    func add(to routes: inout Routes) {
        routes.post("/v1/ephemeral", cache: .never, use: send)
    }

    @Sendable private func send(_ request: APIRequest, _ session: Session) async throws -> Response {
        var fields = try Fields(try await request.json(limit: Ephemerals.bodyBytes))
        let text = try fields.string("uniqueID")
        guard let id = UniqueID(text) else { throw fields.invalid("uniqueID", "must be a UUID") }
        guard case .object? = fields.value("data"), let data = fields.value("data") else {
            throw fields.invalid("data", "must be an object")
        }
        let bytes = data.bytes
        guard bytes.count <= Limits.ephemeralBytes else {
            throw fields.invalid(
                "data", "must have at most \(Limits.ephemeralBytes) bytes of JSON", limit: Limits.ephemeralBytes)
        }
        try fields.end()
        if let wait = limiter.take(session.device.node) {
            throw Problem.tooManyRequests("The message rate of this device is exceeded.", retryAfter: wait)
        }
        var event = JSONWriter(capacity: bytes.count + 256)
        event.object { event in
            event.member("uniqueID", id)
            event.name("device")
            event.object { device in
                device.member("uniqueID", session.device.node.description)
                device.member("name", session.device.name)
            }
            event.name("data")
            event.raw(bytes)
        }
        let listeners = hub.send(ByteBuffer(bytes: event.bytes), from: session.device.node, in: session.scope)
        return .object { $0.member("listeners", Int64(listeners)) }
    }
}
