import HesperModel
import HesperStore

/// The progress of sending a webhook's events: how far the feed has been read, which notes have a held (delayed) event, and which
/// events were sent recently. After a restart, it is computed again from the webhook and its delivery log.
struct WebhookProgress: Sendable {
    /// The minimum time between two events `note.changed` of one note, in milliseconds.
    static let changeInterval: Int64 = 60_000
    /// The number of rows of the feed that are read at a time.
    static let batch = 100

    /// A note that changed again less than ``changeInterval`` after its last `note.changed`. The next `note.changed` of the note is
    /// held until this interval has passed.
    private struct Held {
        /// The sequence number of the first change that is held.
        let sequence: Int64
        let dueDate: Timestamp
    }

    private struct Sent {
        /// The sequence number of the object when its last event was sent.
        var sequence: Int64
        /// The date of the object's last `note.changed`; nil if there was none.
        var changeDate: Timestamp?
    }

    /// An event that is to be sent.
    struct Event: Equatable {
        let type: WebhookEvent
        let object: UniqueID
        let sequence: Int64
        /// Whether sending this event sets ``position`` to the ``sequence`` of the event. False for the event of a held note.
        let movesPosition: Bool
    }

    /// The next events of a webhook.
    struct Plan {
        var events: [Event] = []
        /// The value of ``position`` after all of these events have been sent.
        var end: Int64
        /// Whether the feed has been read to its end.
        var isComplete: Bool
    }

    /// All changes up to this sequence number have been read.
    private(set) var position: Int64
    /// The time at which the progress was last stored separately from an event; nil if it never was.
    var saveDate: Timestamp?
    private var announced: Int64
    private var held: [UniqueID: Held] = [:]
    private var sent: [UniqueID: Sent] = [:]

    /// - Parameter log: the delivery log of the webhook.
    init(_ webhook: Webhook, log: [WebhookDelivery]) {
        position = webhook.sequence
        announced = webhook.announcedSequence
        for delivery in log where delivery.isDelivered {
            record(delivery.event, delivery.object, delivery.sequence, at: delivery.lastAttemptDate)
        }
    }

    /// The sequence number to store with the webhook. All changes up to this number have been read, and none of them is held.
    var sequence: Int64 { min(position, held.values.map { $0.sequence - 1 }.min() ?? .max) }
    var announcedSequence: Int64 { max(announced, sequence) }

    /// Whether a held note's event is due.
    func isDue(at now: Timestamp) -> Bool { held.values.contains { $0.dueDate <= now } }

    // MARK: Planning

    /// Determines the next events.
    mutating func plan(
        for webhook: Webhook, in snapshot: any Snapshot, at now: Timestamp
    ) throws -> Plan {
        let rows = try snapshot.changedObjects(
            after: position, in: webhook.scope, limit: WebhookProgress.batch)
        let head = try snapshot.head(of: webhook.scope)?.sequence ?? position
        let isComplete = rows.count < WebhookProgress.batch
        var plan = Plan(end: isComplete ? max(head, position) : rows.last?.sequence ?? head, isComplete: isComplete)
        let filter = try TagFilter(webhook, in: snapshot)
        for (note, hold) in held.sorted(by: { $0.value.sequence < $1.value.sequence }) where hold.dueDate <= now {
            guard case .entity(_, let sequence?)? = try snapshot.state(of: note, in: webhook.scope),
                webhook.events.contains(.noteChanged), try filter.includes(note, isTag: false)
            else {
                // The note was deleted, or the webhook no longer sends change events of the note. Therefore the held event is
                // dropped. A row of the note in the feed is processed like any other row.
                held[note] = nil
                continue
            }
            plan.events.append(Event(type: .noteChanged, object: note, sequence: sequence, movesPosition: false))
        }
        for row in rows {
            let isPlanned = plan.events.contains { $0.object == row.id && $0.sequence >= row.sequence }
            guard !isPlanned, (sent[row.id]?.sequence ?? -1) < row.sequence,
                let type = try event(of: row, for: webhook, in: snapshot), webhook.events.contains(type),
                try row.isDeleted && row.type == .note || filter.includes(row.id, isTag: row.type == .tag)
            else { continue }
            if type == .noteChanged, let date = sent[row.id]?.changeDate,
                date.adding(WebhookProgress.changeInterval) > now
            {
                let due = date.adding(WebhookProgress.changeInterval)
                held[row.id] = held[row.id] ?? Held(sequence: row.sequence, dueDate: due)
                continue
            }
            plan.events.append(Event(type: type, object: row.id, sequence: row.sequence, movesPosition: true))
        }
        return plan
    }

    /// The event of a row; nil if the object of the row is neither a note nor a tag.
    private func event(
        of row: ChangedObject, for webhook: Webhook, in snapshot: any Snapshot
    ) throws -> WebhookEvent? {
        guard row.type == .note || row.type == .tag else { return nil }
        let isNote = row.type == .note
        if row.isDeleted { return isNote ? .noteDeleted : .tagDeleted }
        let created: WebhookEvent = isNote ? .noteCreated : .tagCreated
        // If an object was created and then changed before its row was read, a creation event is sent. If the webhook does not send
        // creation events, a change event is sent instead.
        let known = webhook.events.contains(created) ? announcedSequence : row.sequence - 1
        if try sent[row.id] == nil && !snapshot.hasEdits(of: row.id, upTo: known, in: webhook.scope) { return created }
        return isNote ? .noteChanged : .tagChanged
    }

    // MARK: Results

    /// Records that an event was sent.
    mutating func succeed(_ event: Event, at date: Timestamp) {
        record(event.type, event.object, event.sequence, at: date)
        held[event.object] = nil
        if event.movesPosition { position = event.sequence }
    }

    /// Records that all events of a plan were sent.
    mutating func finish(_ plan: Plan, at now: Timestamp) {
        position = max(position, plan.end)
        if plan.isComplete { announced = max(announced, plan.end) }
        let (announced, sequence, start) = (announced, sequence, now.adding(-WebhookProgress.changeInterval))
        // Removes the entries that are no longer needed. An entry is needed while its sequence number is greater than `announced`
        // or greater than `sequence`. It is also needed until ``changeInterval`` has passed since its last `note.changed`.
        sent = sent.filter { _, sent in
            sent.sequence > announced || sent.sequence > sequence || sent.changeDate.map { $0 > start } ?? false
        }
    }

    private mutating func record(_ event: WebhookEvent, _ object: UniqueID, _ sequence: Int64, at date: Timestamp) {
        var entry = sent[object] ?? Sent(sequence: sequence)
        entry.sequence = max(entry.sequence, sequence)
        if event == .noteChanged { entry.changeDate = max(entry.changeDate ?? date, date) }
        sent[object] = entry
    }
}

/// Selects the notes and tags whose events are sent to a webhook. If the webhook has a tag, only this tag and the notes with this
/// tag are selected. Otherwise, all notes and tags are selected.
private struct TagFilter {
    private let webhook: Webhook
    private let snapshot: any Snapshot
    /// The IDs of the webhook's tag and of all tags that were merged with it; nil if the webhook has no tag.
    private let tags: [UniqueID]?

    init(_ webhook: Webhook, in snapshot: any Snapshot) throws {
        self.webhook = webhook
        self.snapshot = snapshot
        guard let tag = webhook.tag else {
            tags = nil
            return
        }
        let resolver = Resolver(snapshot: snapshot, scope: webhook.scope)
        let merged = try resolver.live(tag).map { try resolver.ancestors(of: $0) } ?? []
        tags = merged.contains(tag) ? merged : merged + [tag]
    }

    func includes(_ id: UniqueID, isTag: Bool) throws -> Bool {
        guard let tags else { return true }
        if isTag { return tags.contains(id) }
        return try tags.contains { try snapshot.isHeld($0, by: id, in: webhook.scope) }
    }
}
