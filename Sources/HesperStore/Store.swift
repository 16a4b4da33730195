import HesperModel

/// A database of accounts and their objects. Snapshots read and transactions write. It does not depend on HTTP or on merging.
public protocol Store: Sendable {
    /// Runs `body` on a consistent snapshot. It never waits for a writer and never blocks one.
    func read<T: Sendable>(_ body: @escaping @Sendable (any Snapshot) throws -> T) async throws -> T
    /// Runs `body` in a transaction, which is durable when this returns. If `body` throws, the transaction is rolled back.
    /// Transactions that lock the same scope run one after another. Up to ``writers`` transactions run concurrently.
    /// - Parameter body: may run more than once: it is retried from the start if the database aborts the transaction, for
    ///   example because of a deadlock.
    func write<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws -> T
    /// Runs `body` in a transaction that writes only derived data, which can be rebuilt. A crash may lose the whole transaction
    /// until a later ``write(_:)`` is durable.
    func writeDerived<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws -> T
    /// The device that a token belongs to, and the head of its scope; nil if the token is unknown. Every request reads it first.
    func session(of token: TokenHash) async throws -> Session?
    /// The maximum number of concurrent write transactions. The push queue runs as many commits.
    var writers: Int { get }
    /// Whether writers of different scopes run concurrently. If so, batch work should use one transaction per scope.
    var locksScopesIndependently: Bool { get }
    /// The channel to other servers on this database; nil if there are no other servers, or no channel to them.
    var signals: (any Signals)? { get }
    /// The state of the connection pool; nil if there is no pool.
    var poolStatus: PoolStatus? { get }
    /// Whether other processes may have committed since the last call. Not called if there are ``signals``.
    func otherProcessesHaveCommitted() async throws -> Bool
    /// The identity of the installation. All servers on this database share it.
    var installation: Installation { get }
    /// The stage for resumable uploads, if the database stores them, so that every server can continue them; else nil.
    var uploadStage: (any UploadStage)? { get }
    /// Removes deleted data from the database's files, where the database does not do so itself. Called after an account was
    /// erased.
    /// - Throws: ``StoreError/unavailable(_:)`` if some data remains because a reader still uses it.
    func scrub() async throws
    /// Damage in the database's files, such as corrupt pages or a corrupt term index, as sentences for an operator.
    /// ``Snapshot/inconsistencies(in:_:)`` checks the rows.
    func fileDamage() async throws -> [String]
    /// Waits for all running operations, then closes the database. The store must not be used afterwards.
    func close() async throws
}

extension Store {
    public var poolStatus: PoolStatus? { nil }
    public var locksScopesIndependently: Bool { false }
}

/// A read transaction: a consistent view of the store.
public protocol Snapshot: SweepSnapshot, RevocationSnapshot {
    // MARK: Accounts and devices
    /// The account with an ID. A transaction locks its row, so that it does not change until the transaction ends.
    func account(_ id: UniqueID) throws -> Account?
    /// The account with an e-mail address. A transaction locks its row.
    /// - Parameter key: ``Account/key(of:)`` of the address.
    func account(emailKey key: String) throws -> Account?
    /// All accounts, ordered by e-mail address.
    func accounts() throws -> [Account]
    func device(_ node: NodeID, of account: UniqueID) throws -> Device?
    func usage(of scope: ScopeID) throws -> Usage
    func totals() throws -> Totals
    /// The accounts with the greatest clocks, in descending order. Accounts without edits are not included.
    func greatestClocks(limit: Int) throws -> [AccountClock]
    /// The devices of an account, the most recently signed in first.
    /// - Parameter cursor: the last device of the previous page.
    func devices(of account: UniqueID, after cursor: NodeID?, limit: Int) throws -> [Device]
    /// The ticket whose code has this hash, even if it has expired.
    func ticket(_ token: TokenHash) throws -> Ticket?

    // MARK: A scope
    func head(of scope: ScopeID) throws -> ScopeHead?
    /// The sequence and the devices of each of these scopes. Scopes that do not exist are left out.
    func scopeStatuses(of scopes: [ScopeID]) throws -> [ScopeID: ScopeStatus]
    func state(of id: UniqueID, in scope: ScopeID) throws -> ObjectState?
    /// Calls `body` with each row of a scan, until the end or until `body` returns false.
    func scan(_ scan: Scan, in scope: ScopeID, _ body: (ScanRow) throws -> Bool) throws
    /// The number of objects in a scan, and of their bytes.
    func size(of scan: Scan, in scope: ScopeID) throws -> ScanSize
    /// The parcels of an object, the most recent first.
    /// - Parameter position: returns only parcels with a lower ``StoredParcel/position``.
    func history(of object: UniqueID, in scope: ScopeID, before position: Int64?, limit: Int) throws -> [StoredParcel]
    /// The live tag with a folded name.
    func tag(named foldedName: String, in scope: ScopeID) throws -> UniqueID?
    /// The IDs of all DeletedObjects that were merged directly into this object.
    func mergedFrom(_ id: UniqueID, in scope: ScopeID) throws -> [UniqueID]
    /// The DeletedObjects of notes whose deletion arrived at `date` or later, the most recent first.
    /// - Parameter sequence: returns only DeletedObjects with a lower sequence number.
    func deletedNotes(
        in scope: ScopeID, since date: Timestamp, before sequence: Int64?, limit: Int
    ) throws -> [DeletedNote]
    /// Calls `body` with the digest of each object and DeletedObject whose ID has this prefix, ordered by ID.
    /// - Parameter prefix: at most 32 hex digits, without hyphens.
    func digests(
        in scope: ScopeID, prefix: String, _ body: (UniqueID, ObjectType, Digest) throws -> Void
    ) throws
    /// The stored bytes of an attachment; nil if they have not arrived.
    func blob(of attachment: UniqueID, in scope: ScopeID) throws -> Blob?
    /// The storage that a scope uses, from running totals. Zero if the scope does not exist.
    func storage(of scope: ScopeID) throws -> Storage
    /// Calls `body` with each blob of a scope, in the order of arrival.
    func blobs(of scope: ScopeID, _ body: (Blob) throws -> Void) throws
    func upload(_ id: UniqueID, in scope: ScopeID) throws -> Upload?
    /// What the request with this key left, also if it holds no more.
    /// - Parameter keyHash: ``IdempotencyRecord/keyHash``.
    func idempotencyRecord(_ keyHash: [UInt8], in scope: ScopeID) throws -> IdempotencyRecord?
    /// The unfinished uploads of a scope.
    func openUploads(of scope: ScopeID) throws -> [Upload]
    /// A page of the live notes that match a search, as far as the term index is filled. The page ends early after 4 MiB of
    /// text, and when the search has used its time or its number of notes.
    /// - Throws: ``SearchTooCostly`` if the timeout ends before any note was examined.
    func search(_ search: Search, in scope: ScopeID) throws -> SearchPage
    /// The sequence number up to which the term index is filled.
    func indexedSequence(of scope: ScopeID) throws -> Int64
    /// The scopes whose term index is behind, ordered by ID.
    func scopesToIndex(after scope: ScopeID?, limit: Int) throws -> [ScopeID]
    /// Checks all rows of a scope and calls `body` with each inconsistency, as a sentence for an operator.
    func inconsistencies(in scope: ScopeID, _ body: (String) -> Void) throws
}

/// A write transaction.
public protocol Transaction: Snapshot, SweepTransaction, RevocationTransaction {
    /// Runs `body` in a savepoint. If it throws, only the changes that it made are rolled back.
    func savepoint<T>(_ body: () throws -> T) throws -> T

    // MARK: Accounts and devices
    /// Creates an account and its scope.
    /// - Returns: nil if the e-mail address is already used.
    func insertAccount(
        _ id: UniqueID, email: String, passwordHash: String, creationDate: Timestamp
    ) throws -> Account?
    func setPasswordHash(_ hash: String, of account: UniqueID) throws
    func setEmailVerificationDate(_ date: Timestamp, of account: UniqueID) throws
    func setQuota(_ quota: Quota, of scope: ScopeID) throws
    /// Disables or enables an account.
    /// - Parameter date: the time from which it is disabled; nil to enable it.
    func setDisabled(since date: Timestamp?, _ account: UniqueID) throws
    /// Deletes an account with its devices and its scope.
    func deleteAccount(_ id: UniqueID) throws
    func insert(_ device: Device, token: TokenHash) throws
    /// - Returns: whether the device existed.
    func deleteDevice(_ node: NodeID, of account: UniqueID) throws -> Bool
    /// Deletes all devices of an account except one.
    func deleteDevices(of account: UniqueID, except node: NodeID?) throws
    func insert(_ ticket: Ticket, token: TokenHash) throws
    /// - Returns: whether the ticket existed.
    func deleteTicket(_ token: TokenHash) throws -> Bool
    func deleteTickets(for purpose: Ticket.Purpose, of account: UniqueID) throws
    func deleteTickets(endedBy date: Timestamp) throws
    /// Records a request of a device. Arguments that are nil leave the stored value unchanged.
    /// - Parameter readSequence: the sequence number up to which the device had read the notes, if it requested a feed of them.
    func recordUse(
        of node: NodeID, at date: Timestamp, appVersion: String?, userAgent: String?, address: String?,
        readSequence: Int64?
    ) throws

    // MARK: A scope
    /// Prefetches objects before the scopes are locked, in this order, so that a store behind a network needs one round trip
    /// for all of them. This is only a hint. It must be the first call in a transaction.
    func prefetch(_ needs: [(scope: ScopeID, objects: [UniqueID])]) throws
    /// Locks a scope against other writers until the transaction ends.
    /// - Returns: nil if the scope does not exist.
    func lock(_ scope: ScopeID) throws -> LockedScope?
    /// The scope's data as a merge reads it.
    func bag(of scope: ScopeID) -> any Bag
    /// Stores the outcome of a merge, and assigns the next sequence numbers to the objects that it changed.
    /// - Returns: the new head of the scope, and the sequence number of each changed object.
    func append(_ outcome: MergeOutcome, to scope: LockedScope, by device: NodeID?, at date: Timestamp) throws
        -> (head: ScopeHead, sequences: [UniqueID: Int64])
    /// Records that the bytes of an attachment are in the blob store.
    func insert(_ blob: Blob) throws
    func insert(_ upload: Upload, in scope: ScopeID) throws
    /// Stores the length and the state of an upload.
    func update(_ upload: Upload, in scope: ScopeID) throws
    /// - Returns: whether the upload existed.
    func deleteUpload(_ id: UniqueID, in scope: ScopeID) throws -> Bool
    /// Records a request with an idempotency key, in the place of an earlier one with the same key. The scope must be locked.
    /// - Parameter limit: the maximum number of records of a scope; the oldest is removed.
    func insert(_ record: IdempotencyRecord, in scope: ScopeID, limit: Int) throws
    /// Adds up to `limit` objects to the term index.
    /// - Returns: whether the index is now complete.
    func indexTerms(of scope: ScopeID, limit: Int) throws -> Bool
}

/// The row of a scope that the transaction has locked.
public struct LockedScope: Sendable, Equatable {
    public var head: ScopeHead
    /// The greatest clock of all edits in the scope, from any node.
    public var greatestClock: Clock?
    /// The last clock that a server created in the scope.
    public var serverClock: Clock?
    /// Whether a device was revoked as lost. Revocations are rare, so they are queried only if this is true.
    public var hasRevocations: Bool
    /// The sequence number at which the database was restored from a backup; nil if it never was.
    public let restoredSequence: Int64?
    public var storage: Storage

    public init(
        head: ScopeHead, greatestClock: Clock?, serverClock: Clock?, hasRevocations: Bool, restoredSequence: Int64?,
        storage: Storage = Storage()
    ) {
        self.storage = storage
        self.hasRevocations = hasRevocations
        self.restoredSequence = restoredSequence
        self.head = head
        self.greatestClock = greatestClock
        self.serverClock = serverClock
    }
}

extension Store {
    // For databases whose server maintains its own files.
    public func scrub() async throws {}
    public func fileDamage() async throws -> [String] { [] }
}

extension Transaction {
    public func prefetch(_ needs: [(scope: ScopeID, objects: [UniqueID])]) throws {}
}

/// A parcel as it is stored, with the device that pushed it and the time.
public struct StoredParcel: Sendable, Equatable {
    public let parcel: Parcel
    public let pushedBy: NodeID?
    public let pushedAt: Timestamp
    /// Its position in the order of arrival, unique within the scope.
    public let position: Int64

    public init(parcel: Parcel, pushedBy: NodeID?, pushedAt: Timestamp, position: Int64) {
        self.parcel = parcel
        self.pushedBy = pushedBy
        self.pushedAt = pushedAt
        self.position = position
    }
}

/// The DeletedObject of a note, with the device that deleted it.
public struct DeletedNote: Sendable, Equatable {
    public let deleted: DeletedObject
    public let deletedBy: NodeID?
    /// The time at which the server received the deletion.
    public let arrivalDate: Timestamp
    public let sequence: Int64

    public init(deleted: DeletedObject, deletedBy: NodeID?, arrivalDate: Timestamp, sequence: Int64) {
        self.deleted = deleted
        self.deletedBy = deletedBy
        self.arrivalDate = arrivalDate
        self.sequence = sequence
    }
}
