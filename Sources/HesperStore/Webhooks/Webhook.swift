import HesperModel

/// A webhook: a URL to which the server sends events about an account's notes and tags (protocol.md, Webhooks). The position of
/// the webhook in the feed is stored too.
public struct Webhook: Sendable, Equatable {
    /// Why the server sends nothing to a webhook.
    public enum PauseReason: String, Sendable, CaseIterable {
        /// The owner paused it.
        case owner
        /// The receiver failed for ``retryPeriod``.
        case failing
        /// The receiver responded with 410 Gone.
        case gone
        /// The database was restored from a backup.
        case restored
        /// This database may be a copy: the marker of the attachments was written by another database, or is contested, missing
        /// or damaged. The original and the copy would send the same events.
        case contested
    }

    public let uniqueID: UniqueID
    public let scope: ScopeID
    public var url: String
    public var events: Set<WebhookEvent>
    /// Only notes with this tag, and this tag itself, cause events. The deletion of any note causes an event, because a
    /// DeletedObject has no tags. Nil for all notes and tags.
    public var tag: UniqueID?
    /// The key of the signatures. It is stored in plain text, because the server signs each request with it.
    public let secret: [UInt8]
    public let creationDate: Timestamp
    /// The epoch of the installation when the webhook was created or last resumed. A restore changes the installation's epoch,
    /// which pauses the webhook.
    public var epoch: UInt64
    /// The reason why the webhook was paused; nil if there is none. A restore is not stored here. It is detected by the epoch
    /// (``pauseReason(in:)``).
    public var storedPauseReason: PauseReason?
    /// All events of changes up to this sequence number have been sent.
    public var sequence: Int64
    /// All objects whose first edit has this sequence number or a lower one have been announced. This number may be
    /// greater than ``sequence`` while the server delays a `note.changed` event.
    public var announcedSequence: Int64
    /// The number of failed requests since the last success.
    public var failures = 0
    /// The date of the first failure since the last success; nil if the last request succeeded.
    public var firstFailureDate: Timestamp?
    /// The date of the next attempt after a failure; nil if the last request succeeded.
    public var nextAttemptDate: Timestamp?

    /// If all requests to a webhook fail during this time (in milliseconds), the webhook is paused.
    public static let retryPeriod = 3 * Timestamp.day
    /// The maximum number of deliveries in the log of each webhook. The oldest are removed.
    public static let loggedDeliveries = 200

    public init(
        uniqueID: UniqueID, scope: ScopeID, url: String, events: Set<WebhookEvent>, tag: UniqueID?, secret: [UInt8],
        creationDate: Timestamp, epoch: UInt64, storedPauseReason: PauseReason? = nil, sequence: Int64,
        announcedSequence: Int64
    ) {
        self.uniqueID = uniqueID
        self.scope = scope
        self.url = url
        self.events = events
        self.tag = tag
        self.secret = secret
        self.creationDate = creationDate
        self.epoch = epoch
        self.storedPauseReason = storedPauseReason
        self.sequence = sequence
        self.announcedSequence = announcedSequence
    }

    /// Why the webhook is paused; nil if it is active.
    /// - Parameter epoch: the epoch of the installation.
    public func pauseReason(in epoch: UInt64) -> PauseReason? {
        self.epoch == epoch ? storedPauseReason : .restored
    }

    /// Pauses the webhook.
    public mutating func pause(_ reason: PauseReason) {
        storedPauseReason = reason
        nextAttemptDate = nil
    }

    /// Resumes the webhook. It continues where it stopped. The record of earlier failures is cleared.
    /// - Parameters:
    ///   - epoch: the epoch of the installation.
    ///   - head: the sequence number of the scope. After a restore, it may be lower than ``sequence``.
    public mutating func resume(in epoch: UInt64, head: Int64) {
        self.epoch = epoch
        storedPauseReason = nil
        sequence = min(sequence, head)
        announcedSequence = min(announcedSequence, head)
        succeed()
    }

    /// Records that a request succeeded.
    public mutating func succeed() {
        failures = 0
        firstFailureDate = nil
        nextAttemptDate = nil
    }

    /// Records that a request failed, and pauses the webhook if the receiver has failed for ``retryPeriod`` or is gone.
    /// - Parameter delay: the time until the next attempt, in milliseconds.
    public mutating func fail(at date: Timestamp, isGone: Bool, delay: Int64) {
        failures += 1
        let first = firstFailureDate ?? date
        firstFailureDate = first
        if isGone {
            pause(.gone)
        } else if first.adding(Webhook.retryPeriod) <= date {
            pause(.failing)
        } else {
            nextAttemptDate = date.adding(delay)
        }
    }
}

/// The type of an event that a webhook sends.
public enum WebhookEvent: String, Sendable, CaseIterable {
    case noteCreated = "note.created"
    case noteChanged = "note.changed"
    case noteDeleted = "note.deleted"
    case tagCreated = "tag.created"
    case tagChanged = "tag.changed"
    case tagDeleted = "tag.deleted"
    /// Sent on request, to test the receiver. It is about no object.
    case test = "webhook.test"

    /// The events that a webhook can be created for.
    public static let selectable = WebhookEvent.allCases.filter { $0 != .test }
}

/// An event that was sent to a webhook's receiver, or that the server tried to send: an entry of the delivery log.
public struct WebhookDelivery: Sendable, Equatable {
    /// The value of the header `webhook-id`. It is equal in all attempts.
    public let message: String
    public let event: WebhookEvent
    /// The ID of the note or tag that the event is about. For `webhook.test`, the ID of the webhook.
    public let object: UniqueID
    /// The sequence number of the object when the event was made.
    public let sequence: Int64
    /// The date of the first attempt.
    public let date: Timestamp
    public var attempts: Int
    public var lastAttemptDate: Timestamp
    /// The HTTP status of the last response; nil if there was none.
    public var status: Int?
    /// Why the last attempt failed; nil if it succeeded.
    public var error: String?

    public var isDelivered: Bool { error == nil }

    public init(
        message: String, event: WebhookEvent, object: UniqueID, sequence: Int64, date: Timestamp, attempts: Int = 0,
        lastAttemptDate: Timestamp? = nil, status: Int? = nil, error: String? = nil
    ) {
        self.message = message
        self.event = event
        self.object = object
        self.sequence = sequence
        self.date = date
        self.attempts = attempts
        self.lastAttemptDate = lastAttemptDate ?? date
        self.status = status
        self.error = error
    }
}
