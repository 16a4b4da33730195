import HesperModel

/// The queries that webhooks need.
public protocol WebhookSnapshot {
    /// The webhooks of a scope, the most recently created first.
    func webhooks(of scope: ScopeID) throws -> [Webhook]
    /// The webhook with an ID; nil if there is none. If it is read in a transaction, the scope must be locked.
    func webhook(_ id: UniqueID, in scope: ScopeID) throws -> Webhook?
    /// The webhooks that are not paused and whose account is not disabled, with the sequence numbers of their scopes, ordered by
    /// scope and ID.
    /// - Parameters:
    ///   - scope: the scope of the webhooks; nil for all scopes.
    ///   - epoch: the epoch of the installation. Webhooks of other epochs are not returned.
    ///   - last: the last webhook of the previous page; nil for the first page.
    func activeWebhooks(of scope: ScopeID?, in epoch: UInt64, after last: Webhook?, limit: Int) throws
        -> [ActiveWebhook]
    /// The most recent entries of a webhook's delivery log, the newest first.
    func webhookDeliveries(of webhook: UniqueID, in scope: ScopeID, limit: Int) throws -> [WebhookDelivery]
    /// An entry of the delivery log.
    /// - Parameter message: ``WebhookDelivery/message``.
    func webhookDelivery(_ message: String, of webhook: UniqueID, in scope: ScopeID) throws -> WebhookDelivery?
    /// The objects and DeletedObjects whose sequence numbers are greater than `sequence`, in ascending order and without their
    /// bodies.
    func changedObjects(after sequence: Int64, in scope: ScopeID, limit: Int) throws -> [ChangedObject]
    /// Whether an object has an edit whose sequence number is `sequence` or lower.
    func hasEdits(of object: UniqueID, upTo sequence: Int64, in scope: ScopeID) throws -> Bool
    /// Whether a note holds a tag or an attachment, according to the registers of the note.
    func isHeld(_ member: UniqueID, by note: UniqueID, in scope: ScopeID) throws -> Bool
}

/// The writes that webhooks need. The scope must be locked.
public protocol WebhookTransaction: WebhookSnapshot {
    func insert(_ webhook: Webhook) throws
    /// Stores all properties of a webhook that can change.
    func update(_ webhook: Webhook) throws
    /// Deletes a webhook and its delivery log.
    /// - Returns: whether the webhook existed.
    func deleteWebhook(_ id: UniqueID, in scope: ScopeID) throws -> Bool
    /// Adds an entry to the delivery log, or updates the entry with the same message.
    /// - Parameter limit: the maximum number of entries per webhook. If it is exceeded, the oldest entry is removed.
    func record(_ delivery: WebhookDelivery, of webhook: UniqueID, in scope: ScopeID, limit: Int) throws
}

/// A webhook that is not paused, and the sequence number of its scope.
public struct ActiveWebhook: Sendable, Equatable {
    public let webhook: Webhook
    public let head: Int64

    public init(webhook: Webhook, head: Int64) {
        self.webhook = webhook
        self.head = head
    }
}

/// An object or a DeletedObject in the feed, without its body.
public struct ChangedObject: Sendable, Equatable {
    public let id: UniqueID
    public let type: ObjectType
    public let isDeleted: Bool
    public let sequence: Int64

    public init(id: UniqueID, type: ObjectType, isDeleted: Bool, sequence: Int64) {
        self.id = id
        self.type = type
        self.isDeleted = isDeleted
        self.sequence = sequence
    }
}
