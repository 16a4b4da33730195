import Foundation
import HesperModel
import HesperStore
import Hummingbird

/// `/v1/webhooks`: creates, lists, changes and deletes webhooks, tests them, and repeats their deliveries (protocol.md, Webhooks).
struct Webhooks: Resource {
    let backend: Backend
    let sender: WebhookSender
    /// Limits the number of concurrent requests that test a webhook or repeat a delivery.
    private let permits = Semaphore<ScopeID>.perAccount(
        "webhook tests and repeated deliveries", PermitLimits(total: 32, perKey: 2, waitingPerKey: 4))

    /// The maximum size of a request's body, in bytes.
    private static let bodyBytes = 16 << 10

    func add(to routes: inout Routes) {
        routes.get("/v1/webhooks", use: list)
        routes.post("/v1/webhooks", cache: .never, use: create)
        routes.get("/v1/webhooks/{uniqueID}", use: get)
        routes.patch("/v1/webhooks/{uniqueID}", use: update)
        routes.delete("/v1/webhooks/{uniqueID}", use: delete)
        routes.get("/v1/webhooks/{uniqueID}/deliveries", use: deliveries)
        routes.post("/v1/webhooks/{uniqueID}/test", cache: .never, use: test)
        routes.post("/v1/webhooks/{uniqueID}/replay", cache: .never, use: replay)
    }

    // MARK: Webhooks

    @Sendable private func list(_ request: APIRequest, _ session: Session) async throws -> Response {
        let webhooks = try await backend.store.read { try $0.webhooks(of: session.scope) }
        return .object { writer in
            writer.name("webhooks")
            writer.array { writer in
                for webhook in webhooks { writer.object { webhook.write(to: &$0, epoch: backend.epoch) } }
            }
        }
    }

    @Sendable private func create(_ request: APIRequest, _ session: Session) async throws -> Response {
        try IdempotencyKey.refuse(in: request)
        var fields = try Fields(await request.json(limit: Webhooks.bodyBytes))
        guard let url = try url(in: &fields) else { throw fields.invalid("url", "is missing") }
        guard let events = try events(in: &fields) else { throw fields.invalid("events", "is missing") }
        let tag = try fields.optionalString("tag").map { text throws(Problem) in
            guard let id = UniqueID(text) else { throw fields.invalid("tag", "must be the ID of a tag") }
            return id
        }
        try fields.end()
        let secret = (0..<WebhookMessage.secretLength).map { _ in UInt8.random(in: .min ... .max) }
        let (epoch, scope, now) = (backend.epoch, session.scope, backend.now())
        let webhook = try await backend.store.write { transaction in
            guard let head = try transaction.lock(scope)?.head.sequence else { throw Authenticator.unauthenticated }
            guard try transaction.webhooks(of: scope).count < Limits.webhooks else {
                throw Problem.tooLarge(
                    "An account can have at most \(Limits.webhooks) webhooks. Delete one that is no longer used.",
                    limit: Limits.webhooks)
            }
            if let tag {
                guard case .entity(.tag, .some)? = try transaction.state(of: tag, in: scope) else {
                    throw Problem(.invalidField, "This account has no tag with the ID \(tag).", at: "/tag")
                }
            }
            let webhook = Webhook(
                uniqueID: .random(), scope: scope, url: url, events: events, tag: tag, secret: secret,
                creationDate: now, epoch: epoch, sequence: head, announcedSequence: head)
            try transaction.insert(webhook)
            return webhook
        }
        backend.webhookCommits.pending.add(.all)
        return .object(status: .created, headers: [.location: "/v1/webhooks/\(webhook.uniqueID)"]) { writer in
            webhook.write(to: &writer, epoch: epoch)
            writer.member("secret", WebhookMessage.text(ofSecret: secret))
        }
    }

    @Sendable private func get(_ request: APIRequest, _ session: Session) async throws -> Response {
        response(try await webhook(request, session))
    }

    @Sendable private func update(_ request: APIRequest, _ session: Session) async throws -> Response {
        let id = try request.uniqueID()
        var fields = try Fields(await request.json(limit: Webhooks.bodyBytes))
        let url = try url(in: &fields)
        let events = try events(in: &fields)
        let isPaused = try fields.optionalBool("paused")
        try fields.end()
        let (epoch, scope) = (backend.epoch, session.scope)
        let webhook = try await backend.store.write { transaction in
            guard let head = try transaction.lock(scope)?.head.sequence,
                var webhook = try transaction.webhook(id, in: scope)
            else { throw Problem.notFound(id) }
            if let url { webhook.url = url }
            if let events { webhook.events = events }
            if let isPaused {
                if !isPaused {
                    webhook.resume(in: epoch, head: head)
                } else if webhook.pauseReason(in: epoch) == nil {
                    webhook.pause(.owner)
                }
            }
            try transaction.update(webhook)
            return webhook
        }
        backend.webhookCommits.pending.add(.all)
        return response(webhook)
    }

    @Sendable private func delete(_ request: APIRequest, _ session: Session) async throws -> Response {
        let (id, scope) = (try request.uniqueID(), session.scope)
        try await backend.store.write { transaction in
            guard try transaction.lock(scope) != nil, try transaction.deleteWebhook(id, in: scope) else {
                throw Problem.notFound(id)
            }
        }
        return Response(status: .noContent)
    }

    private func webhook(_ request: APIRequest, _ session: Session) async throws -> Webhook {
        let id = try request.uniqueID()
        guard let webhook = try await backend.store.read({ try $0.webhook(id, in: session.scope) }) else {
            throw Problem.notFound(id)
        }
        return webhook
    }

    private func response(_ webhook: Webhook) -> Response {
        .object { webhook.write(to: &$0, epoch: backend.epoch) }
    }

    // MARK: Deliveries

    @Sendable private func deliveries(_ request: APIRequest, _ session: Session) async throws -> Response {
        let webhook = try await webhook(request, session)
        let deliveries = try await backend.store.read {
            try $0.webhookDeliveries(of: webhook.uniqueID, in: session.scope, limit: Webhook.loggedDeliveries)
        }
        return .object { writer in
            writer.name("deliveries")
            writer.array { writer in
                for delivery in deliveries { writer.object { delivery.write(to: &$0) } }
            }
        }
    }

    @Sendable private func test(_ request: APIRequest, _ session: Session) async throws -> Response {
        try IdempotencyKey.refuse(in: request)
        let webhook = try await webhook(request, session)
        // The ID is random, so that receivers do not discard the second test as a repetition of the first.
        let delivery = WebhookDelivery(
            message: WebhookMessage.id(of: .test, .random(), 0, to: webhook.uniqueID, epoch: backend.epoch),
            event: .test, object: webhook.uniqueID, sequence: 0, date: backend.now())
        return try await send(delivery, to: webhook)
    }

    @Sendable private func replay(_ request: APIRequest, _ session: Session) async throws -> Response {
        try IdempotencyKey.refuse(in: request)
        var fields = try Fields(await request.json(limit: Webhooks.bodyBytes))
        let message = try fields.string("delivery", bytes: 1...128)
        try fields.end()
        let webhook = try await webhook(request, session)
        let delivery = try await backend.store.read {
            try $0.webhookDelivery(message, of: webhook.uniqueID, in: session.scope)
        }
        guard let delivery else {
            throw fields.invalid("delivery", "must be the ID of a delivery in the log of this webhook")
        }
        return try await send(delivery, to: webhook)
    }

    /// Sends a delivery once, on the owner's request, and responds with the outcome. A failure does not count as a failure of the
    /// webhook, and the request is not repeated.
    private func send(_ delivery: WebhookDelivery, to webhook: Webhook) async throws -> Response {
        let attempt = try await permits.withPermit(webhook.scope) {
            await sender.attempt(delivery, to: webhook, now: backend.now).delivery
        }
        try await backend.store.write { transaction in
            guard try transaction.lock(webhook.scope) != nil,
                try transaction.webhook(webhook.uniqueID, in: webhook.scope) != nil
            else { throw Problem.notFound(webhook.uniqueID) }
            try transaction.record(
                attempt, of: webhook.uniqueID, in: webhook.scope, limit: Webhook.loggedDeliveries)
        }
        return .object { attempt.write(to: &$0) }
    }

    // MARK: Fields

    private func url(in fields: inout Fields) throws(Problem) -> String? {
        guard let text = try fields.optionalString("url", bytes: 1...WebhookURL.maximumLength) else { return nil }
        let url: WebhookURL
        do {
            url = try WebhookURL(text)
        } catch { throw fields.invalid("url", error.reason) }
        // Names are checked when a request is sent, because their addresses can change.
        let address = url.address
        if !url.isEncrypted, address.map({ !sender.network.allows($0) }) ?? sender.network.allowed.isEmpty {
            throw fields.invalid(
                "url", "must begin with https://, because the operator of the server has not allowed this network")
        }
        if let address, !sender.network.permits(address, isEncrypted: url.isEncrypted) {
            throw fields.invalid(
                "url",
                "must not contain an address in a private or special network that the operator has not allowed")
        }
        return text
    }

    private func events(in fields: inout Fields) throws(Problem) -> Set<WebhookEvent>? {
        guard let json = fields.value("events") else { return nil }
        let known = WebhookEvent.selectable.map(\.rawValue).joined(separator: ", ")
        guard case .array(let elements) = json, !elements.isEmpty else {
            throw fields.invalid("events", "must be an array with at least one of \(known)")
        }
        var events: Set<WebhookEvent> = []
        for (index, element) in elements.enumerated() {
            guard case .string(let text) = element, let event = WebhookEvent(rawValue: text),
                WebhookEvent.selectable.contains(event)
            else { throw Problem(.invalidField, "events must contain only \(known).", at: "/events/\(index)") }
            events.insert(event)
        }
        return events
    }
}

extension Webhook {
    /// Writes the members of a webhook, without its secret.
    fileprivate func write(to writer: inout JSONWriter, epoch: UInt64) {
        writer.member("uniqueID", uniqueID)
        writer.member("url", url)
        writer.member("events", .array(WebhookEvent.selectable.filter(events.contains).map { .string($0.rawValue) }))
        if let tag { writer.member("tag", tag) }
        writer.member("creationDate", creationDate)
        let reason = pauseReason(in: epoch)
        writer.member("paused", reason != nil)
        if let reason { writer.member("pauseReason", reason.rawValue) }
        writer.member("failures", Int64(failures))
        if let firstFailureDate { writer.member("firstFailureDate", firstFailureDate) }
        if reason == nil, let nextAttemptDate { writer.member("nextAttemptDate", nextAttemptDate) }
    }
}

extension WebhookDelivery {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("uniqueID", message)
        writer.member("type", event.rawValue)
        if event != .test { writer.member("object", object) }
        writer.member("date", date)
        writer.member("attempts", Int64(attempts))
        writer.member("lastAttemptDate", lastAttemptDate)
        writer.member("delivered", isDelivered)
        if let status { writer.member("status", Int64(status)) }
        if let error { writer.member("error", error) }
    }
}
