import HesperModel

/// A database of accounts and their objects. It is read through snapshots and written through transactions. It does not depend on
/// HTTP or on the merge rules.
public protocol Store: Sendable {
    /// Runs `body` on a consistent snapshot. Reads never wait for writes and never block them.
    func read<T: Sendable>(_ body: @escaping @Sendable (any Snapshot) throws -> T) async throws -> T
    /// Runs `body` in a transaction. The transaction is durable when this returns. If `body` throws, the transaction is rolled
    /// back. Transactions that lock the same scope run one after another. At most ``writers`` transactions run concurrently.
    /// - Parameter body: may run more than once. If the database aborts the transaction, for example because of a deadlock, the
    ///   transaction is repeated from the start.
    func write<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws -> T
    /// Runs `body` in a transaction that writes only data that can be rebuilt from other data. If the server crashes before a
    /// later ``write(_:)`` is durable, the whole transaction may be lost.
    func writeDerived<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws -> T
    /// The device to which a token belongs, and the head (``ScopeHead``) of the device's scope; nil if the token is unknown. Every
    /// authenticated request reads the session first.
    func session(of token: TokenHash) async throws -> Session?
    /// The maximum number of concurrent write transactions. The push queue runs at most this number of commits concurrently.
    var writers: Int { get }
    /// The executor that runs write transactions. A task that prefers this executor writes without a switch of threads. Nil if
    /// there is no such executor.
    var writerExecutor: (any TaskExecutor)? { get }
    /// Whether writes to different scopes can run concurrently. If so, batch work should use one transaction per scope.
    var locksScopesIndependently: Bool { get }
    /// The connection through which servers on this database exchange signals; nil if there are no other servers or no such
    /// connection.
    var signals: (any Signals)? { get }
    /// The state of the connection pool; nil if the database has no connection pool.
    var poolStatus: PoolStatus? { get }
    /// Whether other processes may have committed since the previous call. This is called only if ``signals`` is nil.
    func otherProcessesHaveCommitted() async throws -> Bool
    /// The identity of the installation. All servers on this database have the same installation.
    var installation: Installation { get }
    /// The stage that stores the bytes of resumable uploads in the database, so that every server can continue an upload. Nil if
    /// the database does not store these bytes.
    var uploadStage: (any UploadStage)? { get }
    /// Removes deleted data from the database's files, if the database does not do so itself. Called after an account was
    /// deleted.
    /// - Throws: ``StoreError/unavailable(_:)`` if some data remains because a reader still uses it.
    func scrub() async throws
    /// Checks the database's files for damage, such as corrupt pages or a corrupt term index. Returns a sentence for an operator
    /// about each problem. The rows are checked by ``Snapshot/inconsistencies(in:_:)``.
    func fileDamage() async throws -> [String]
    /// Waits for all running operations, then closes the database. The store must not be used afterwards.
    func close() async throws
}

extension Store {
    public var writerExecutor: (any TaskExecutor)? { nil }
    public var poolStatus: PoolStatus? { nil }
    public var locksScopesIndependently: Bool { false }
}

/// A read transaction. All reads see the same state of the store.
public protocol Snapshot: SweepSnapshot, RevocationSnapshot, WebhookSnapshot {
    // MARK: Accounts and devices
    /// The account with an ID; nil if there is none. If it is read in a transaction, its row is locked until the transaction
    /// ends.
    func account(_ id: UniqueID) throws -> Account?
    /// The account with an e-mail address; nil if there is none. If it is read in a transaction, its row is locked until the
    /// transaction ends.
    /// - Parameter key: ``Account/key(of:)`` of the address.
    func account(emailKey key: String) throws -> Account?
    /// All accounts, ordered by e-mail address.
    func accounts() throws -> [Account]
    /// Whether there is an account.
    func hasAccount() throws -> Bool
    func device(_ node: NodeID, of account: UniqueID) throws -> Device?
    func usage(of scope: ScopeID) throws -> Usage
    func totals() throws -> Totals
    /// The accounts with the greatest clocks, at most `limit`, in descending order of clocks. Accounts without edits are not
    /// included.
    func greatestClocks(limit: Int) throws -> [AccountClock]
    /// The devices and access tokens of an account, the most recently created first.
    /// - Parameters:
    ///   - tokens: true for access tokens only, false for devices only, nil for both.
    ///   - cursor: the last device or token of the previous page; nil for the first page.
    func devices(of account: UniqueID, tokens: Bool?, after cursor: NodeID?, limit: Int) throws -> [Device]
    /// The ticket whose code has this hash, even if the ticket has expired; nil if there is none.
    func ticket(_ token: TokenHash) throws -> Ticket?

    // MARK: A scope
    func head(of scope: ScopeID) throws -> ScopeHead?
    /// The sequence numbers and devices of these scopes. Scopes that do not exist are not in the result.
    func scopeStatuses(of scopes: [ScopeID]) throws -> [ScopeID: ScopeStatus]
    func state(of id: UniqueID, in scope: ScopeID) throws -> ObjectState?
    /// Calls `body` with each row of a scan, until there are no more rows or `body` returns false.
    func scan(_ scan: Scan, in scope: ScopeID, _ body: (ScanRow) throws -> Bool) throws
    /// The number of objects that a scan returns, and the total size of their bodies.
    func size(of scan: Scan, in scope: ScopeID) throws -> ScanSize
    /// The parcels of an object, the most recent first.
    /// - Parameter position: only parcels with a lower ``StoredParcel/position`` are returned; nil for all parcels.
    func history(of object: UniqueID, in scope: ScopeID, before position: Int64?, limit: Int) throws -> [StoredParcel]
    /// The ID of the live tag with this folded name; nil if there is none.
    func tag(named foldedName: String, in scope: ScopeID) throws -> UniqueID?
    /// The IDs of all DeletedObjects that were merged directly into this object.
    func mergedFrom(_ id: UniqueID, in scope: ScopeID) throws -> [UniqueID]
    /// The DeletedObjects of notes whose deletion arrived at `date` or later, the most recent first.
    /// - Parameter sequence: only DeletedObjects with a lower sequence number are returned; nil for all of them.
    func deletedNotes(
        in scope: ScopeID, since date: Timestamp, before sequence: Int64?, limit: Int
    ) throws -> [DeletedNote]
    /// Calls `body` with the digest of each object and DeletedObject whose ID has this prefix, ordered by ID.
    /// - Parameter prefix: at most 32 hex digits, without hyphens.
    func digests(
        in scope: ScopeID, prefix: String, _ body: (UniqueID, ObjectType, Digest) throws -> Void
    ) throws
    /// The record of an attachment's stored bytes; nil if the bytes have not arrived.
    func blob(of attachment: UniqueID, in scope: ScopeID) throws -> Blob?
    /// The amount of data that a scope stores, from running totals. Zero if the scope does not exist.
    func storage(of scope: ScopeID) throws -> Storage
    /// Calls `body` with each blob of a scope, in the order in which the blobs arrived.
    func blobs(of scope: ScopeID, _ body: (Blob) throws -> Void) throws
    func upload(_ id: UniqueID, in scope: ScopeID) throws -> Upload?
    /// The outcome of an earlier request with this idempotency key, even if the record has expired; nil if there is none.
    /// - Parameter keyHash: the value of ``IdempotencyRecord/keyHash``.
    func idempotencyRecord(_ keyHash: [UInt8], in scope: ScopeID) throws -> IdempotencyRecord?
    /// The import that an account has requested; nil if there is none.
    func importRecord(of scope: ScopeID) throws -> ImportRecord?
    /// The imports that were created before a date and are neither done nor failed, the oldest first. The imports may belong to any
    /// scope.
    func unfinishedImports(before date: Timestamp, limit: Int) throws -> [UnfinishedImport]
    /// The unfinished uploads of a scope.
    func openUploads(of scope: ScopeID) throws -> [Upload]
    /// A page of the live notes that match a search. Notes that are not in the term index yet are not found. The page ends early
    /// when it contains 4 MiB of text, when the timeout of the search ends, or when the maximum number of notes has been read.
    /// - Throws: ``SearchTooCostly`` if the timeout ends before any note was examined.
    func search(_ search: Search, in scope: ScopeID) throws -> SearchPage
    /// The sequence number up to which all changes are in the term index.
    func indexedSequence(of scope: ScopeID) throws -> Int64
    /// The scopes whose term index does not include all changes, ordered by ID, at most `limit`. If `scope` is not nil, only
    /// scopes with greater IDs are returned.
    func scopesToIndex(after scope: ScopeID?, limit: Int) throws -> [ScopeID]
    /// Checks all rows of a scope. Calls `body` with each inconsistency, described in a sentence for an operator.
    func inconsistencies(in scope: ScopeID, _ body: (String) -> Void) throws
}

/// A write transaction.
public protocol Transaction: Snapshot, SweepTransaction, RevocationTransaction, WebhookTransaction {
    /// Runs `body` in a savepoint. If `body` throws, only the changes that `body` made are rolled back.
    func savepoint<T>(_ body: () throws -> T) throws -> T

    // MARK: Accounts and devices
    /// Creates an account and its scope.
    /// - Returns: the account; nil if another account has this e-mail address.
    func insertAccount(
        _ id: UniqueID, email: String, passwordHash: String, creationDate: Timestamp
    ) throws -> Account?
    func setPasswordHash(_ hash: String, of account: UniqueID) throws
    func setEmailVerificationDate(_ date: Timestamp, of account: UniqueID) throws
    func setQuota(_ quota: Quota, of scope: ScopeID) throws
    /// Disables or enables an account.
    /// - Parameter date: the time from which the account is disabled; nil to enable the account.
    func setDisabled(since date: Timestamp?, _ account: UniqueID) throws
    /// Deletes an account with its devices and its scope.
    func deleteAccount(_ id: UniqueID) throws
    func insert(_ device: Device, token: TokenHash) throws
    /// Renames a device.
    /// - Returns: the device with its new name; nil if the account has no such device.
    func rename(_ node: NodeID, of account: UniqueID, to name: String) throws -> Device?
    /// Deletes a device, which signs it out.
    /// - Returns: whether the device existed.
    func deleteDevice(_ node: NodeID, of account: UniqueID) throws -> Bool
    /// Deletes all devices of an account except `node`; all devices if `node` is nil.
    func deleteDevices(of account: UniqueID, except node: NodeID?) throws
    func insert(_ ticket: Ticket, token: TokenHash) throws
    /// Deletes a ticket.
    /// - Returns: whether the ticket existed.
    func deleteTicket(_ token: TokenHash) throws -> Bool
    func deleteTickets(for purpose: Ticket.Purpose, of account: UniqueID) throws
    func deleteTickets(endedBy date: Timestamp) throws
    /// Records that a device has sent a request. For an argument that is nil, the stored value is not changed.
    /// - Parameter readSequence: the sequence number up to which the device had read the notes; nil if it did not request a feed
    ///   of notes.
    func recordUse(
        of node: NodeID, at date: Timestamp, appVersion: String?, userAgent: String?, address: String?,
        readSequence: Int64?
    ) throws

    // MARK: A scope
    /// Prefetches objects of several scopes. The transaction will lock these scopes in the given order. If the store is accessed
    /// over a network, this call reads all of the objects in one round trip. Other stores may ignore the call. It must be the first
    /// call in a transaction.
    func prefetch(_ needs: [(scope: ScopeID, objects: [UniqueID])]) throws
    /// Locks a scope against other writers until the transaction ends.
    /// - Returns: the locked row of the scope; nil if the scope does not exist.
    func lock(_ scope: ScopeID) throws -> LockedScope?
    /// Access to the scope's data for a merge.
    func bag(of scope: ScopeID) -> any Bag
    /// Stores the outcome of a merge, and assigns the next sequence numbers to the objects that the merge changed.
    /// - Returns: the new head of the scope, and the sequence number of each changed object.
    func append(_ outcome: MergeOutcome, to scope: LockedScope, by device: NodeID?, at date: Timestamp) throws
        -> (head: ScopeHead, sequences: [UniqueID: Int64])
    /// Records that the bytes of an attachment are in the blob store.
    func insert(_ blob: Blob) throws
    func insert(_ upload: Upload, in scope: ScopeID) throws
    /// Stores the length and the state of an upload.
    func update(_ upload: Upload, in scope: ScopeID) throws
    /// Deletes the row of an upload.
    /// - Returns: whether the upload existed.
    func deleteUpload(_ id: UniqueID, in scope: ScopeID) throws -> Bool
    /// Inserts the import of a scope. The scope must not already have an import.
    func insert(_ record: ImportRecord, in scope: ScopeID) throws
    /// Stores the state, the progress, the results and the sender of an import.
    /// - Parameter state: the state that the stored import must have.
    /// - Returns: false if the import was deleted, or has another state.
    func update(_ record: ImportRecord, in scope: ScopeID, from state: ImportRecord.State) throws -> Bool
    /// Sets ``ImportRecord/attempts``. ``update(_:in:from:)`` sets this number to 0.
    func setImportAttempts(_ count: Int64, of id: UniqueID, in scope: ScopeID) throws
    func setImportProgress(_ done: Int64, of total: Int64, _ id: UniqueID, in scope: ScopeID) throws
    /// Deletes the row of an import.
    /// - Returns: whether the import existed.
    func deleteImport(_ id: UniqueID, in scope: ScopeID) throws -> Bool
    /// Records the outcome of a request with an idempotency key. An earlier record with the same key is replaced. The scope must
    /// be locked.
    /// - Parameter limit: the maximum number of records per scope. If it is exceeded, the oldest record is removed.
    func insert(_ record: IdempotencyRecord, in scope: ScopeID, limit: Int) throws
    /// Adds up to `limit` objects to the term index.
    /// - Returns: whether the index is now complete.
    func indexTerms(of scope: ScopeID, limit: Int) throws -> Bool
}

/// The row of a scope, which the transaction has locked.
public struct LockedScope: Sendable, Equatable {
    public var head: ScopeHead
    /// The greatest clock of all edits in the scope, from any node; nil if the scope has no edits.
    public var greatestClock: Clock?
    /// The most recent clock that a server created in the scope; nil if there is none.
    public var serverClock: Clock?
    /// Whether the scope has revocations. Revocations are rare, so they are queried only if this is true.
    public var hasRevocations: Bool
    /// The scope's sequence number when the database was restored from a backup; nil if the database was never restored.
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
    // Default implementations for databases whose files are maintained by a database server.
    public func scrub() async throws {}
    public func fileDamage() async throws -> [String] { [] }
}

extension Transaction {
    public func prefetch(_ needs: [(scope: ScopeID, objects: [UniqueID])]) throws {}
}

/// A parcel as stored, with the device that pushed it and the time at which it was pushed.
public struct StoredParcel: Sendable, Equatable {
    public let parcel: Parcel
    public let pushedBy: NodeID?
    public let pushedAt: Timestamp
    /// The position of the parcel in the order of arrival. It is unique within the scope.
    public let position: Int64

    public init(parcel: Parcel, pushedBy: NodeID?, pushedAt: Timestamp, position: Int64) {
        self.parcel = parcel
        self.pushedBy = pushedBy
        self.pushedAt = pushedAt
        self.position = position
    }
}

/// The DeletedObject of a note, and the device that deleted the note.
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
