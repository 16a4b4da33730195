import HesperModel

/// Where everything is kept. A snapshot reads, a transaction writes; nothing here knows of HTTP or of merging.
public protocol Store: Sendable {
    /// Reads one consistent moment. Never waits for a writer, never holds one up.
    func read<T: Sendable>(_ body: @escaping @Sendable (any Snapshot) throws -> T) async throws -> T
    /// Writes; what it wrote is durable when this returns. An error undoes all of it. Transactions of one scope come one
    /// after the other, each after it has locked the scope; ``writers`` says how many of others may run beside them.
    /// - Parameter body: done again, from the start, if the store had to give up its transaction for another's sake.
    func write<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws -> T
    /// The same for what is derived from the rest and would be made again: a crash may take it, whole, until the next
    /// ``write(_:)`` is durable.
    func writeDerived<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws -> T
    /// Who holds this token and how far their scope is: every request begins with it.
    func session(of token: TokenHash) async throws -> Session?
    /// How many transactions may write at once: so many commits the queue of pushes has under way.
    var writers: Int { get }
    /// Whether who writes to one scope holds up none of the others: then what is done for several is better done apart.
    var locksScopesIndependently: Bool { get }
    /// How other servers are told what happens on this one; nil where there are none to tell, or none that could be.
    var signals: (any Signals)? { get }
    /// How busy its connections are; nil where they are not what one waits for.
    var poolStatus: PoolStatus? { get }
    /// Whether other processes may have committed since this was asked last. Not asked where there are ``signals``.
    func otherProcessesHaveCommitted() async throws -> Bool
    /// The same for all servers on this store.
    var installation: Installation { get }
    /// Where uploads that may be resumed wait, if the store keeps them itself: so that every server on it has them.
    var uploadStage: (any UploadStage)? { get }
    /// Has the store's files forget what was deleted, as far as that is for the store to do; asked after an account was erased.
    /// - Throws: ``StoreError/unavailable(_:)`` if some of it is still there, as somebody reads it.
    func scrub() async throws
    /// The damage that can be seen only in the database's own files, in sentences for an operator: of pages, and of the
    /// index of terms. ``Snapshot/inconsistencies(in:_:)`` compares what the rows say.
    func fileDamage() async throws -> [String]
    /// Ends when all that is under way is done; nothing may be asked after it.
    func close() async throws
}

extension Store {
    /// Most have nothing that one waits for.
    public var poolStatus: PoolStatus? { nil }
    /// With one writer, nothing is gained by it.
    public var locksScopesIndependently: Bool { false }
}

/// One consistent moment of the store.
public protocol Snapshot: SweepSnapshot, RevocationSnapshot {
    // MARK: Accounts and devices
    /// In a transaction it stays as it is until the end.
    func account(_ id: UniqueID) throws -> Account?
    /// The same by its address.
    /// - Parameter key: ``Account/key(of:)`` of an e-mail address.
    func account(emailKey key: String) throws -> Account?
    /// All accounts, by e-mail.
    func accounts() throws -> [Account]
    /// One device of an account.
    func device(_ node: NodeID, of account: UniqueID) throws -> Device?
    func usage(of scope: ScopeID) throws -> Usage
    /// How much there is in all.
    func totals() throws -> Totals
    /// The accounts with the greatest clocks, the greatest first; those that hold nothing have none.
    func greatestClocks(limit: Int) throws -> [AccountClock]
    /// An account's devices, the last signed in first.
    /// - Parameter cursor: the last device of the page before.
    func devices(of account: UniqueID, after cursor: NodeID?, limit: Int) throws -> [Device]
    /// The ticket whose code has this hash, also if it is over.
    func ticket(_ token: TokenHash) throws -> Ticket?

    // MARK: A scope
    func head(of scope: ScopeID) throws -> ScopeHead?
    /// Where scopes stand for those who listen to them; those that are gone are missing.
    func scopeStatuses(of scopes: [ScopeID]) throws -> [ScopeID: ScopeStatus]
    func state(of id: UniqueID, in scope: ScopeID) throws -> ObjectState?
    /// Gives the rows of a scan one by one until it has no more, or `body` answers false.
    func scan(_ scan: Scan, in scope: ScopeID, _ body: (ScanRow) throws -> Bool) throws
    /// What a scan would give in all.
    func size(of scan: Scan, in scope: ScopeID) throws -> ScanSize
    /// One object's parcels, the last to arrive first.
    /// - Parameter position: only those that came before the one with this ``StoredParcel/position``.
    func history(of object: UniqueID, in scope: ScopeID, before position: Int64?, limit: Int) throws -> [StoredParcel]
    /// The live tag whose name folds to this.
    func tag(named foldedName: String, in scope: ScopeID) throws -> UniqueID?
    /// Every ID whose DeletedObject says that it was merged into this one, directly.
    func mergedFrom(_ id: UniqueID, in scope: ScopeID) throws -> [UniqueID]
    /// DeletedObjects of notes whose deletion arrived since `date`, the last first.
    /// - Parameter sequence: only those before this number.
    func deletedNotes(
        in scope: ScopeID, since date: Timestamp, before sequence: Int64?, limit: Int
    ) throws -> [DeletedNote]
    /// The digests of the scope's objects and DeletedObjects whose ID begins so, by ID.
    /// - Parameter prefix: hex digits, without hyphens, at most 32.
    func digests(
        in scope: ScopeID, prefix: String, _ body: (UniqueID, ObjectType, Digest) throws -> Void
    ) throws
    /// The bytes of an attachment, if they are here.
    func blob(of attachment: UniqueID, in scope: ScopeID) throws -> Blob?
    /// How many bytes a scope stores, known without adding up; nothing if there is no such scope.
    func storage(of scope: ScopeID) throws -> Storage
    /// Gives all bytes that a scope has, in the order of their arrival.
    func blobs(of scope: ScopeID, _ body: (Blob) throws -> Void) throws
    /// An upload that may be resumed.
    func upload(_ id: UniqueID, in scope: ScopeID) throws -> Upload?
    /// Those of a scope that are not finished.
    func openUploads(of scope: ScopeID) throws -> [Upload]
    /// Live notes that the query finds in the index as far as it is filled; a page ends early past 4 MiB of text, and where it
    /// has cost as much as it may.
    /// - Throws: ``SearchTooCostly``, if it has nothing to answer by then.
    func search(_ search: Search, in scope: ScopeID) throws -> SearchPage
    /// The sequence up to which the index of terms is filled.
    func indexedSequence(of scope: ScopeID) throws -> Int64
    /// Scopes whose index of terms is behind, in the order of their numbers.
    func scopesToIndex(after scope: ScopeID?, limit: Int) throws -> [ScopeID]
    /// Anything wrong in what is kept, in sentences for an operator.
    func inconsistencies(in scope: ScopeID, _ body: (String) -> Void) throws
}

/// A snapshot that may be changed.
public protocol Transaction: Snapshot, SweepTransaction, RevocationTransaction {
    /// Does `body`, undoing what it wrote, and only that, if it throws.
    func savepoint<T>(_ body: () throws -> T) throws -> T

    // MARK: Accounts and devices
    /// Makes an account and its scope.
    /// - Returns: nil if the e-mail address is taken.
    func insertAccount(
        _ id: UniqueID, email: String, passwordHash: String, creationDate: Timestamp
    ) throws -> Account?
    func setPasswordHash(_ hash: String, of account: UniqueID) throws
    /// Keeps when the account's e-mail address was verified.
    func setEmailVerificationDate(_ date: Timestamp, of account: UniqueID) throws
    /// Sets how many bytes a scope may store.
    func setQuota(_ quota: Quota, of scope: ScopeID) throws
    /// Disables an account, or enables it again.
    /// - Parameter date: since when it is disabled; nil to enable it.
    func setDisabled(since date: Timestamp?, _ account: UniqueID) throws
    /// Erases an account with its devices and its scope.
    func deleteAccount(_ id: UniqueID) throws
    func insert(_ device: Device, token: TokenHash) throws
    /// - Returns: whether there was one.
    func deleteDevice(_ node: NodeID, of account: UniqueID) throws -> Bool
    /// Ends every device of an account but one.
    func deleteDevices(of account: UniqueID, except node: NodeID?) throws
    func insert(_ ticket: Ticket, token: TokenHash) throws
    /// - Returns: whether there was one.
    func deleteTicket(_ token: TokenHash) throws -> Bool
    func deleteTickets(for purpose: Ticket.Purpose, of account: UniqueID) throws
    func deleteTickets(endedBy date: Timestamp) throws
    /// Keeps that a device was used. What is nil stays as it was.
    /// - Parameter readSequence: how far it had read of the notes, if it asked for more of them.
    func recordUse(
        of node: NodeID, at date: Timestamp, appVersion: String?, userAgent: String?, address: String?,
        readSequence: Int64?
    ) throws

    // MARK: A scope
    /// Told before anything else which scopes will be locked, in this order, and which of their objects be asked for: a store
    /// that is a network away asks for all of it at once. Only a hint.
    func prefetch(_ needs: [(scope: ScopeID, objects: [UniqueID])]) throws
    /// Locks the scope against other writers until the transaction ends.
    func lock(_ scope: ScopeID) throws -> LockedScope?
    /// What a merge may ask about the scope.
    func bag(of scope: ScopeID) -> any Bag
    /// Keeps what a merge came to, and gives every object that it changed the next number.
    /// - Returns: where the scope stands now, and the number of each object.
    func append(_ outcome: MergeOutcome, to scope: LockedScope, by device: NodeID?, at date: Timestamp) throws
        -> (head: ScopeHead, sequences: [UniqueID: Int64])
    /// Keeps that the bytes of an attachment are here.
    func insert(_ blob: Blob) throws
    func insert(_ upload: Upload, in scope: ScopeID) throws
    /// Keeps what is known of an upload by now.
    func update(_ upload: Upload, in scope: ScopeID) throws
    /// - Returns: whether there was one.
    func deleteUpload(_ id: UniqueID, in scope: ScopeID) throws -> Bool
    /// Brings the index of terms forward by at most this many objects; whether it is now up to the scope's sequence.
    func indexTerms(of scope: ScopeID, limit: Int) throws -> Bool
}

/// A scope while its row is locked.
public struct LockedScope: Sendable, Equatable {
    public var head: ScopeHead
    /// The greatest clock in the bag, by whomever.
    public var greatestClock: Clock?
    /// The last clock that a server ticked here.
    public var serverClock: Clock?
    /// Whether any device was revoked as lost: hardly ever, so only then it is asked which.
    public var hasRevocations: Bool
    /// Where it stood when the database was restored from a backup; nil if it never was.
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
    /// Where the database's own server sees to its files.
    public func scrub() async throws {}
    /// The same.
    public func fileDamage() async throws -> [String] { [] }
}

extension Transaction {
    /// Where nothing is far away, nothing is gained by asking early.
    public func prefetch(_ needs: [(scope: ScopeID, objects: [UniqueID])]) throws {}
}

/// A row of the bag, with who pushed it and when.
public struct StoredParcel: Sendable, Equatable {
    public let parcel: Parcel
    public let pushedBy: NodeID?
    public let pushedAt: Timestamp
    /// Its place in the order of arrival: no two parcels share one.
    public let position: Int64

    public init(parcel: Parcel, pushedBy: NodeID?, pushedAt: Timestamp, position: Int64) {
        self.parcel = parcel
        self.pushedBy = pushedBy
        self.pushedAt = pushedAt
        self.position = position
    }
}

/// The DeletedObject of a note, and who deleted it.
public struct DeletedNote: Sendable, Equatable {
    public let deleted: DeletedObject
    public let deletedBy: NodeID?
    /// When the server learned of it.
    public let arrivalDate: Timestamp
    public let sequence: Int64

    public init(deleted: DeletedObject, deletedBy: NodeID?, arrivalDate: Timestamp, sequence: Int64) {
        self.deleted = deleted
        self.deletedBy = deletedBy
        self.arrivalDate = arrivalDate
        self.sequence = sequence
    }
}
