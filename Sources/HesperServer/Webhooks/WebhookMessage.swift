import Crypto
import Foundation
import HesperModel
import HesperStore

/// A request to a webhook's receiver, signed according to the Standard Webhooks specification.
struct WebhookMessage: Sendable {
    let id: String
    let body: [UInt8]

    init(id: String, body: [UInt8]) {
        self.id = id
        self.body = body
    }

    /// The message about an event. It contains only IDs, and is the same in all attempts.
    init(_ delivery: WebhookDelivery) {
        var writer = JSONWriter(capacity: 160)
        writer.object { writer in
            writer.member("type", delivery.event.rawValue)
            writer.member("timestamp", delivery.date)
            writer.name("data")
            writer.object { writer in
                if delivery.event != .test { writer.member("uniqueID", delivery.object) }
            }
        }
        self.init(id: delivery.message, body: writer.bytes)
    }

    /// The headers of a request that is sent at a date.
    func headers(secret: [UInt8], at date: Timestamp) -> [(String, String)] {
        let seconds = String(date.milliseconds / 1_000)
        return [
            ("content-type", "application/json"), ("webhook-id", id), ("webhook-timestamp", seconds),
            ("webhook-signature", signature(secret: secret, timestamp: seconds)),
        ]
    }

    private func signature(secret: [UInt8], timestamp: String) -> String {
        var hash = HMAC<SHA256>(key: SymmetricKey(data: secret))
        hash.update(data: Array("\(id).\(timestamp).".utf8))
        hash.update(data: body)
        return "v1," + Data(hash.finalize()).base64EncodedString()
    }

    /// The text form of a secret.
    static func text(ofSecret secret: [UInt8]) -> String { "whsec_" + Data(secret).base64EncodedString() }

    /// The length of a secret, in bytes.
    static let secretLength = 32

    /// The ID of an event. It is derived from the values that identify the event, so that a repeated event has the same ID, even if
    /// the server was killed before it recorded that it had sent the event.
    static func id(
        of event: WebhookEvent, _ object: UniqueID, _ sequence: Int64, to webhook: UniqueID, epoch: UInt64
    ) -> String {
        let name = "\(webhook) \(epoch) \(event.rawValue) \(object) \(sequence)"
        let hash = SHA256.hash(data: Array(name.utf8))
        return "msg_"
            + Data(hash).prefix(20).map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
    }
}
