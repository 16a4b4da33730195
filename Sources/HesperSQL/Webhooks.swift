import HesperModel
import HesperStore

/// The columns of a webhook, which ``StoredRow/webhook()`` decodes.
private let columns = """
    w.scope, w.id, w.url, w.events, w.tag, w.secret, w.creation_date, w.epoch, w.pause_reason, w.sequence,
        w.announced_sequence, w.failures, w.first_failure_date, w.next_attempt_date
    """

/// The columns of a delivery, which ``StoredRow/webhookDelivery()`` decodes.
private let deliveryColumns = "message, type, object, sequence, date, attempts, last_attempt_date, status, error"

extension SQLSnapshot {
    public func webhooks(of scope: ScopeID) throws -> [Webhook] {
        try sql.all("SELECT \(columns) FROM webhooks w WHERE w.scope = $1", [.scope(scope)]) { try $0.webhook() }
            .sorted { ($0.creationDate, $0.uniqueID) > ($1.creationDate, $1.uniqueID) }
    }

    public func webhook(_ id: UniqueID, in scope: ScopeID) throws -> Webhook? {
        try sql.first(
            "SELECT \(columns) FROM webhooks w WHERE w.scope = $1 AND w.id = $2", [.scope(scope), .id(id)]
        ) { try $0.webhook() }
    }

    public func activeWebhooks(
        of scope: ScopeID?, in epoch: UInt64, after last: Webhook?, limit: Int
    ) throws -> [ActiveWebhook] {
        let query = """
            SELECT \(columns), s.sequence
            FROM webhooks w JOIN scopes s ON s.id = w.scope JOIN memberships m ON m.scope = w.scope
                JOIN accounts a ON a.id = m.account
            WHERE w.pause_reason IS NULL AND a.disabled_since IS NULL AND w.epoch = $2
            """
        let epoch = SQLValue.integer(Int64(bitPattern: epoch))
        func active(_ rest: String, _ arguments: [SQLValue]) throws -> [ActiveWebhook] {
            try sql.all("\(query) \(rest)", arguments) {
                ActiveWebhook(webhook: try $0.webhook(), head: $0.integer(14))
            }
        }
        // A scope has few webhooks, so they are sorted here instead of in the query.
        if let scope {
            let all = try active("AND w.scope = $1", [.scope(scope), epoch])
                .sorted { $0.webhook.uniqueID < $1.webhook.uniqueID }
            return Array(
                all.filter { active in last.map { $0.uniqueID < active.webhook.uniqueID } ?? true }.prefix(limit))
        }
        // No scope has the ID 0, so the first page begins with the first webhook.
        let start = last.map { ($0.scope, $0.uniqueID) } ?? (ScopeID(0), UniqueID(high: 0, low: 0))
        return try active(
            "AND (w.scope, w.id) > ($1, $3) ORDER BY w.scope, w.id LIMIT $4",
            [.scope(start.0), epoch, .id(start.1), .limit(limit)])
    }

    public func webhookDeliveries(of webhook: UniqueID, in scope: ScopeID, limit: Int) throws -> [WebhookDelivery] {
        try sql.all(
            """
            SELECT \(deliveryColumns) FROM webhook_deliveries WHERE scope = $1 AND webhook = $2
            ORDER BY number DESC LIMIT $3
            """, [.scope(scope), .id(webhook), .limit(limit)]
        ) { try $0.webhookDelivery() }
    }

    public func webhookDelivery(
        _ message: String, of webhook: UniqueID, in scope: ScopeID
    ) throws -> WebhookDelivery? {
        try sql.first(
            "SELECT \(deliveryColumns) FROM webhook_deliveries WHERE scope = $1 AND webhook = $2 AND message = $3",
            [.scope(scope), .id(webhook), .text(message)]
        ) { try $0.webhookDelivery() }
    }

    public func changedObjects(after sequence: Int64, in scope: ScopeID, limit: Int) throws -> [ChangedObject] {
        func rows(_ table: String, isDeleted: Bool) throws -> [ChangedObject] {
            try sql.all(
                """
                SELECT id, type, sequence FROM \(table) WHERE scope = $1 AND sequence > $2 ORDER BY sequence LIMIT $3
                """, [.scope(scope), .integer(sequence), .limit(limit)]
            ) { row in
                ChangedObject(
                    id: try row.id(0), type: try row.type(1), isDeleted: isDeleted, sequence: row.integer(2))
            }
        }
        let all = try rows("objects", isDeleted: false) + rows("tombstones", isDeleted: true)
        return Array(all.sorted { $0.sequence < $1.sequence }.prefix(limit))
    }

    public func hasEdits(of object: UniqueID, upTo sequence: Int64, in scope: ScopeID) throws -> Bool {
        try sql.first(
            "SELECT 1 FROM edits WHERE scope = $1 AND object = $2 AND sequence <= $3 LIMIT 1",
            [.scope(scope), .id(object), .integer(sequence)]
        ) { _ in true } ?? false
    }

    public func isHeld(_ member: UniqueID, by note: UniqueID, in scope: ScopeID) throws -> Bool {
        try sql.first(
            "SELECT 1 FROM members WHERE scope = $1 AND member = $2 AND object = $3",
            [.scope(scope), .id(member), .id(note)]
        ) { _ in true } ?? false
    }
}

extension SQLTransaction {
    public func insert(_ webhook: Webhook) throws {
        try sql.enqueue(
            """
            INSERT INTO webhooks (scope, id, url, events, tag, secret, creation_date, epoch, pause_reason, sequence,
                announced_sequence, failures, first_failure_date, next_attempt_date)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
            """,
            webhook.key + [
                .text(webhook.url), .text(webhook.eventNames), .id(webhook.tag), .bytes(webhook.secret),
                .date(webhook.creationDate),
            ] + webhook.state, expecting: 1)
    }

    public func update(_ webhook: Webhook) throws {
        try sql.enqueue(
            """
            UPDATE webhooks SET url = $3, events = $4, tag = $5, epoch = $6, pause_reason = $7, sequence = $8,
                announced_sequence = $9, failures = $10, first_failure_date = $11, next_attempt_date = $12
            WHERE scope = $1 AND id = $2
            """, webhook.key + [.text(webhook.url), .text(webhook.eventNames), .id(webhook.tag)] + webhook.state,
            expecting: 1)
    }

    public func deleteWebhook(_ id: UniqueID, in scope: ScopeID) throws -> Bool {
        try sql.enqueue(
            "DELETE FROM webhook_deliveries WHERE scope = $1 AND webhook = $2", [.scope(scope), .id(id)])
        return try sql.run("DELETE FROM webhooks WHERE scope = $1 AND id = $2", [.scope(scope), .id(id)]) > 0
    }

    public func record(_ delivery: WebhookDelivery, of webhook: UniqueID, in scope: ScopeID, limit: Int) throws {
        let last = """
            (SELECT number FROM webhook_deliveries WHERE scope = $1 AND webhook = $2 ORDER BY number DESC LIMIT 1)
            """
        try sql.enqueue(
            """
            INSERT INTO webhook_deliveries (scope, webhook, \(deliveryColumns), number)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce(\(last), 0) + 1)
            ON CONFLICT (scope, webhook, message) DO UPDATE SET attempts = excluded.attempts,
                last_attempt_date = excluded.last_attempt_date, status = excluded.status, error = excluded.error
            """,
            [
                .scope(scope), .id(webhook), .text(delivery.message), .text(delivery.event.rawValue),
                .id(delivery.object), .integer(delivery.sequence), .date(delivery.date), .int(delivery.attempts),
                .date(delivery.lastAttemptDate), .integer(delivery.status.map(Int64.init)), .text(delivery.error),
            ], expecting: 1)
        try sql.enqueue(
            "DELETE FROM webhook_deliveries WHERE scope = $1 AND webhook = $2 AND number <= \(last) - $3",
            [.scope(scope), .id(webhook), .int(limit)])
    }
}

extension Webhook {
    /// The parameters `$1` and `$2`: the scope and the ID.
    fileprivate var key: [SQLValue] { [.scope(scope), .id(uniqueID)] }

    fileprivate var eventNames: String { events.map(\.rawValue).sorted().joined(separator: " ") }

    /// The values of the columns from `epoch` to `next_attempt_date`.
    fileprivate var state: [SQLValue] {
        [
            .integer(Int64(bitPattern: epoch)), .text(storedPauseReason?.rawValue), .integer(sequence),
            .integer(announcedSequence), .int(failures), .date(firstFailureDate), .date(nextAttemptDate),
        ]
    }
}

extension StoredRow {
    /// Decodes a row with the columns of `webhooks`, in the order of the table.
    fileprivate func webhook() throws -> Webhook {
        // A later version may have written events and pause reasons that this version does not know. Such events are
        // ignored, and such a reason is read as `owner`.
        let events = string(3).split(separator: " ").compactMap { WebhookEvent(rawValue: String($0)) }
        let reason = stringIfAny(8).map { Webhook.PauseReason(rawValue: $0) ?? .owner }
        var webhook = Webhook(
            uniqueID: try id(1), scope: scope(0), url: string(2), events: Set(events), tag: idIfAny(4),
            secret: Array(bytes(5)), creationDate: timestamp(6), epoch: UInt64(bitPattern: integer(7)),
            storedPauseReason: reason, sequence: integer(9), announcedSequence: integer(10))
        webhook.failures = int(11)
        webhook.firstFailureDate = timestampIfAny(12)
        webhook.nextAttemptDate = timestampIfAny(13)
        return webhook
    }

    fileprivate func webhookDelivery() throws -> WebhookDelivery {
        WebhookDelivery(
            message: string(0), event: WebhookEvent(rawValue: string(1)) ?? .test, object: try id(2),
            sequence: integer(3), date: timestamp(4), attempts: int(5), lastAttemptDate: timestamp(6),
            status: integerIfAny(7).map(Int.init), error: stringIfAny(8))
    }
}
