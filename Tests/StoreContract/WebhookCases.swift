import HesperModel
import HesperStore

extension StoreContract {
    private static func webhook(of client: Client, tag: UniqueID? = nil, at date: Timestamp = Client.date(0)) -> Webhook
    {
        Webhook(
            uniqueID: .random(), scope: client.scope, url: "https://example.org/hook?a=ä",
            events: [.noteCreated, .tagDeleted],
            tag: tag, secret: (0..<32).map { $0 }, creationDate: date, epoch: client.store.installation.epoch,
            sequence: 3, announcedSequence: 4)
    }

    private static func delivery(
        _ message: String, _ event: WebhookEvent = .noteChanged, sequence: Int64 = 1
    ) -> WebhookDelivery {
        WebhookDelivery(
            message: message, event: event, object: .random(), sequence: sequence, date: Client.date(5), attempts: 1,
            lastAttemptDate: Client.date(6), status: 500, error: "The receiver responded with status 500.")
    }

    static let webhookCases: [Case] = [
        Case("webhooks are stored durably, with all properties, separately for each scope") { (subject: Subject) in
            let client = try await Client(on: try await subject.open())
            let other = try await Client(on: client.store, email: "bob@example.com")
            let first = webhook(of: client)
            var second = webhook(of: client, tag: .random(), at: Client.date(1))
            try await client.write { [second] transaction in
                try transaction.insert(first)
                try transaction.insert(second)
            }
            second.url = "http://example.org/"
            second.events = [.noteDeleted]
            second.sequence = 9
            second.announcedSequence = 10
            second.fail(at: Client.date(7), isGone: false, delay: 1_000)
            try await client.write { [second] in try $0.update(second) }
            let reopened = try await subject.open()
            let (scope, others) = (client.scope, other.scope)
            try expect(try await reopened.read { try $0.webhooks(of: scope) }, is: [second, first])
            try expect(try await reopened.read { try $0.webhooks(of: others) }, is: [])
            try expect(try await reopened.read { try $0.webhook(first.uniqueID, in: scope) }, is: first)
            try expect(try await reopened.read { try $0.webhook(first.uniqueID, in: others) }, is: nil)
            second.pause(.failing)
            try await client.write { [second] in try $0.update(second) }
            try expect(try await reopened.read { try $0.webhooks(of: scope) }, is: [second, first])
        },
        Case("active webhooks are those of enabled accounts and of this epoch that are not paused") {
            (client: Client) in
            let other = try await Client(on: client.store, email: "bob@example.com")
            let epoch = client.store.installation.epoch
            let active = webhook(of: client)
            var (paused, restored) = (webhook(of: client), webhook(of: client))
            paused.pause(.owner)
            restored.epoch = epoch &+ 1
            let others = webhook(of: other)
            try await client.write { [paused, restored] transaction in
                for webhook in [active, paused, restored] { try transaction.insert(webhook) }
            }
            try await other.write { try $0.insert(others) }
            let (note, scope) = (UniqueID.random(), client.scope)
            try await client.store.write { _ = try client.push([client.note(note, "x", at: 1)], in: $0) }
            func found(_ scope: ScopeID?, after last: Webhook? = nil, limit: Int = 9) async throws -> [ActiveWebhook] {
                try await client.read { try $0.activeWebhooks(of: scope, in: epoch, after: last, limit: limit) }
            }
            let (own, their) = (ActiveWebhook(webhook: active, head: 1), ActiveWebhook(webhook: others, head: 0))
            try expect(try await found(nil), is: [own, their])
            try expect(try await found(scope), is: [own])
            try expect(try await found(nil, limit: 1), is: [own])
            try expect(try await found(nil, after: active), is: [their])
            try expect(try await found(nil, after: others), is: [])
            let id = other.account.uniqueID
            try await client.store.write { try $0.setDisabled(since: Client.date(1), id) }
            try expect(try await found(nil), is: [own])
        },
        Case("the delivery log has one entry per message, the latest first, up to a limit for each webhook") {
            (client: Client) in
            let (hook, other) = (webhook(of: client), webhook(of: client))
            try await client.write { transaction in
                try transaction.insert(hook)
                try transaction.insert(other)
            }
            let (id, otherID, scope) = (hook.uniqueID, other.uniqueID, client.scope)
            let entries = ["a", "b", "c", "d"].map { delivery($0) }
            var again = entries[1]
            again.attempts = 2
            again.lastAttemptDate = Client.date(9)
            (again.status, again.error) = (nil, nil)
            try await client.write { [again] transaction in
                for entry in entries { try transaction.record(entry, of: id, in: scope, limit: 3) }
                try transaction.record(again, of: id, in: scope, limit: 3)
                try transaction.record(entries[0], of: otherID, in: scope, limit: 3)
            }
            func log(_ id: UniqueID, limit: Int = 9) async throws -> [WebhookDelivery] {
                try await client.read { try $0.webhookDeliveries(of: id, in: scope, limit: limit) }
            }
            try expect(try await log(id), is: [entries[3], entries[2], again])
            try expect(try await log(id, limit: 1), is: [entries[3]])
            try expect(try await log(otherID), is: [entries[0]])
            try expect(try await client.read { try $0.webhookDelivery("b", of: id, in: scope) }, is: again)
            try expect(try await client.read { try $0.webhookDelivery("a", of: id, in: scope) }, is: nil)
            try expect(try await client.write { try $0.deleteWebhook(id, in: scope) })
            try expect(try await client.write { try !$0.deleteWebhook(id, in: scope) })
            try expect(try await log(id), is: [])
            try expect(try await log(otherID).count, is: 1)
        },
        Case("changed objects are read in the order of their changes, without bodies") { (client: Client) in
            let (note, dead, tag, board, scope) = (
                UniqueID.random(), UniqueID.random(), UniqueID.random(), UniqueID.random(), client.scope
            )
            try await client.store.write { transaction in
                try client.push([client.note(note, "x", at: 1, (.tag(tag), .bool(true)))], in: transaction)
                try client.push([client.note(dead, "x", at: 2)], in: transaction)
                try client.push([client.tag(tag, "red", at: 3)], in: transaction)
                try client.push([client.object(board, type: "board", at: 4)], in: transaction)
                try client.push([client.set(note, .text, .string("y"), at: 5)], in: transaction)
                try client.push([client.delete(dead)], in: transaction)
            }
            func changes(after sequence: Int64, limit: Int = 9) async throws -> [ChangedObject] {
                try await client.read { try $0.changedObjects(after: sequence, in: scope, limit: limit) }
            }
            let all = try await changes(after: 0)
            try expect(all.map(\.id), is: [tag, board, note, dead])
            try expect(all.map(\.type.name), is: ["tag", "board", "note", "note"])
            try expect(all.map(\.isDeleted), is: [false, false, false, true])
            try expect(all.map(\.sequence), is: [3, 4, 5, 6])
            try expect(try await changes(after: 0, limit: 2), is: Array(all.prefix(2)))
            try expect(try await changes(after: 4), is: Array(all.suffix(2)))
            try expect(try await changes(after: 6), is: [])
            let edits = try await client.read { snapshot in
                try (0...1).map { try snapshot.hasEdits(of: note, upTo: $0, in: scope) }
            }
            try expect(edits, is: [false, true])
            try expect(try await client.read { try $0.isHeld(tag, by: note, in: scope) })
            try expect(try await client.read { try !$0.isHeld(tag, by: board, in: scope) })
        },
        Case("deleting an account deletes its webhooks and their logs") { (client: Client) in
            let other = try await Client(on: client.store, email: "bob@example.com")
            let (own, others) = (webhook(of: client), webhook(of: other))
            for (client, hook) in [(client, own), (other, others)] {
                try await client.write { transaction in
                    try transaction.insert(hook)
                    try transaction.record(delivery("a"), of: hook.uniqueID, in: hook.scope, limit: 3)
                }
            }
            let id = client.account.uniqueID
            try await client.store.write { try $0.deleteAccount(id) }
            for (hook, count) in [(own, 0), (others, 1)] {
                try expect(try await client.read { try $0.webhooks(of: hook.scope).count }, is: count)
                let log = try await client.read {
                    try $0.webhookDeliveries(of: hook.uniqueID, in: hook.scope, limit: 9)
                }
                try expect(log.count, is: count)
            }
        },
    ]
}

extension Client {
    /// Runs `body` in a transaction that has locked the scope.
    @discardableResult
    fileprivate func write<T: Sendable>(
        _ body: @escaping @Sendable (any Transaction) throws -> T
    ) async throws -> T {
        let scope = scope
        return try await store.write { transaction in
            _ = try transaction.lock(scope)
            return try body(transaction)
        }
    }
}
