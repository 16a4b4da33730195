import HesperModel
import HesperStore
import Hummingbird
import NIOCore

/// `POST /v1/ephemeral`: what a device says to the others that listen, such as who types where. It is kept nowhere
/// (protocol.md, Events).
struct Ephemerals: Resource {
    let hub: EventHub
    private let limiter: RateLimiter<NodeID>
    /// Bytes of the request: escapes take more than what they stand for.
    private static let bodyBytes = 8 * Limits.ephemeralBytes

    init(hub: EventHub, rate: Rate) {
        self.hub = hub
        limiter = RateLimiter(rate)
    }

    func add(to routes: inout Routes) {
        routes.post("/v1/ephemeral", keeping: .never, use: send)
    }

    @Sendable private func send(_ call: Call, _ session: Session) async throws -> Response {
        var fields = try Fields(try await call.json(limit: Ephemerals.bodyBytes))
        let text = try fields.string("uniqueID")
        guard let id = UniqueID(text) else { throw fields.invalid("uniqueID", "is a UUID") }
        guard case .object? = fields.value("data"), let data = fields.value("data") else {
            throw fields.invalid("data", "is an object")
        }
        let bytes = data.bytes
        guard bytes.count <= Limits.ephemeralBytes else {
            throw fields.invalid(
                "data", "has at most \(Limits.ephemeralBytes) bytes of JSON", limit: Limits.ephemeralBytes)
        }
        try fields.end()
        if let wait = limiter.take(session.device.node) {
            throw Problem.tooManyRequests("This device has a lot to say.", retryAfter: wait)
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
