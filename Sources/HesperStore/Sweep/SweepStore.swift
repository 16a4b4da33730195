import HesperModel

/// What the sweeper asks of a snapshot.
public protocol SweepSnapshot {
    /// Whether anything is due: an object, or bytes that nothing knows any more, or an upload from before a date.
    func hasSweeps(dueBy date: Timestamp, uploadsBefore uploads: Timestamp) throws -> Bool
    /// An object's edits after a place in the order of arrival, in that order, with the values they have.
    /// - Parameters:
    ///   - bytes: no more are read once so many bytes were.
    /// - Returns: with them, whether there are no more.
    func edits(
        of object: UniqueID, in scope: ScopeID, after position: Int64, limit: Int, bytes: Int
    ) throws -> (edits: [SweptEdit], isAll: Bool)
    /// The values of an object's edits, as far as these were looked at.
    func versions(of object: UniqueID, in scope: ScopeID) throws -> [StoredVersion]
    /// The devices that may push to a scope and were used since a date.
    func devices(of scope: ScopeID, usedSince date: Timestamp) throws -> [Thinning.Device]
    /// When the server learned of a deletion; nil if there is none.
    func arrivalDate(ofDeleted id: UniqueID, in scope: ScopeID) throws -> Timestamp?
    /// The places of an object's edits that arrived until a date.
    func positions(of object: UniqueID, in scope: ScopeID, pushedUntil date: Timestamp, limit: Int) throws -> [Int64]
    /// When the first of an object's edits arrived.
    func firstArrival(of object: UniqueID, in scope: ScopeID) throws -> Timestamp?
    /// Since when no live note has held an attachment whose bytes are here; nil if one does.
    func unheldDate(of attachment: UniqueID, in scope: ScopeID) throws -> Timestamp?
    /// Blobs that nothing knows any more, the first to be let go of first.
    func removedBlobs(limit: Int) throws -> [BlobName]
    /// Uploads of all scopes that began before a date, the first first.
    func uploads(before date: Timestamp, limit: Int) throws -> [(scope: ScopeID, upload: Upload)]
    /// Whether there is no account, and none was erased whose bytes are still to go.
    func isEmpty() throws -> Bool
    /// What is recorded of the place of the bytes. In a transaction it stays as it is until the end.
    func blobStoreRecord() throws -> BlobStoreRecord
    /// Whether there is a row of these very bytes: an attachment's, or one that says that they are to go.
    func isKnown(_ name: BlobName) throws -> Bool
    /// Blobs without a row, and when each was seen first.
    func unknownBlobs() throws -> [BlobName: Timestamp]
}

/// What the sweeper does in a transaction.
public protocol SweepTransaction: SweepSnapshot {
    /// Takes, or renews, what one process has at a time.
    /// - Parameter holder: who takes it; nobody else gets it until the end.
    /// - Returns: whether it is the holder's now.
    func takeLease(_ name: String, for holder: Int64, at date: Timestamp, until end: Timestamp) throws -> Bool
    func endLease(_ name: String, of holder: Int64) throws
    /// Takes objects that are due, the longest due first, so that nobody else does until the claim is over.
    func claimSweeps(dueBy date: Timestamp, limit: Int, until claim: Timestamp) throws -> [DueSweep]
    /// Remembers what an edit has, and that it was looked at.
    func record(_ edit: SweptEdit, of sweep: DueSweep) throws
    /// Drops values that an edit has; its keys stay.
    func drop(_ values: SweptEdit, of sweep: DueSweep) throws
    /// Removes an edit, keys and all.
    func purge(editAt position: Int64, of sweep: DueSweep) throws
    /// Sets when an object is looked at next, unless a change has set it to a date before.
    /// - Parameter next: nil for not before it changes.
    func end(_ sweep: DueSweep, next: Timestamp?) throws
    /// Gives up an object of which nothing is left to look at, unless a change has set a date.
    func forget(_ sweep: DueSweep) throws
    /// Takes the bytes of an attachment out of the scope; the blob store is told after the commit.
    func removeBlob(of attachment: UniqueID, in scope: ScopeID) throws
    /// Forgets a blob that the blob store no longer has.
    func forgetRemovedBlob(_ name: BlobName) throws
    func set(_ record: BlobStoreRecord) throws
    /// Records when a blob without a row was seen first; an earlier date stays.
    func recordUnknownBlob(_ name: BlobName, seenAt date: Timestamp) throws
    func forgetUnknownBlob(_ name: BlobName) throws
}
