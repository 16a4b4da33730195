import HesperModel
import HesperStore

/// The account into which notes are imported, and the rules of its server.
public struct ImportTarget: Sendable {
    let store: any Store
    let blobs: any BlobStore
    let scope: ScopeID
    let sender: NodeID?
    let maximumAttachmentBytes: Int64
    let quota: Int64?
    let queue: PushQueue?
    let now: @Sendable () -> Timestamp
    let pushSize: PushSize
    let check: @Sendable (any Transaction) throws -> Void

    /// - Parameters:
    ///   - store: the store of the account. Servers and other commands may use it at the same time.
    ///   - blobs: the storage of attachments.
    ///   - sender: the device or access token that is recorded as the sender of the notes; nil if it is the installation itself.
    ///   - maximumAttachmentBytes: the maximum size of an attachment in bytes.
    ///   - quota: the quota of accounts that do not have a quota of their own, in bytes; nil for no limit.
    ///   - queue: the push queue of the server; nil for an import in another process, which creates its own queue.
    ///   - now: returns the current time.
    ///   - check: called in each transaction before anything is written. If it throws, the import ends with this error.
    public init(
        store: any Store, blobs: any BlobStore, scope: ScopeID, by sender: NodeID? = nil, maximumAttachmentBytes: Int64,
        quota: Int64? = nil, queue: PushQueue? = nil, now: @escaping @Sendable () -> Timestamp,
        checking check: @escaping @Sendable (any Transaction) throws -> Void = { _ in }
    ) {
        (self.store, self.blobs, self.scope, self.sender) = (store, blobs, scope, sender)
        (self.maximumAttachmentBytes, self.quota, self.queue) = (maximumAttachmentBytes, quota, queue)
        self.now = now
        pushSize = queue == nil ? .ofOwnProcess : .besideOthers
        self.check = check
    }
}

/// The maximum size of a push of an import.
struct PushSize: Sendable {
    let notes: Int
    /// The approximate maximum size of the texts in a push, in bytes.
    let bytes: Int
    /// The maximum number of attachments per push, approximately.
    let attachments: Int
    /// The size of each push as stated to the push queue, in bytes.
    let jobBytes: Int

    static let ofOwnProcess = PushSize(notes: 500, bytes: 4 << 20, attachments: 500, jobBytes: 0)
    /// The size of a push if devices use the same push queue. The pushes are small, so that devices do not wait long for one of
    /// them. `jobBytes` is large. After each large job, the queue commits only small jobs for some time, so the pushes of devices
    /// come first.
    static let besideOthers = PushSize(
        notes: 50, bytes: 256 << 10, attachments: 100, jobBytes: PushQueue.largeBytes)
}
