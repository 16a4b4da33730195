import HesperModel

/// The queries that the sweeper needs.
public protocol SweepSnapshot {
    /// Whether the sweeper has work: an object that is due, a blob to be removed, or an upload that began before `uploads`.
    func hasSweeps(dueBy date: Timestamp, uploadsBefore uploads: Timestamp) throws -> Bool
    /// The edits of an object after a position, in the order of arrival, with their values.
    /// - Parameter bytes: no more edits are read when this number of bytes has been read.
    /// - Returns: the edits, and whether there are no further edits.
    func edits(
        of object: UniqueID, in scope: ScopeID, after position: Int64, limit: Int, bytes: Int
    ) throws -> (edits: [SweptEdit], isAll: Bool)
    /// The versions of the object that ``SweepTransaction/record(_:of:)`` has recorded. Each version is the metadata of a value
    /// from one of the object's edits.
    func versions(of object: UniqueID, in scope: ScopeID) throws -> [StoredVersion]
    /// The devices of the scope's account that have been used since a date.
    func devices(of scope: ScopeID, usedSince date: Timestamp) throws -> [Thinning.Device]
    /// The time at which the server received a deletion; nil if the object is not deleted.
    func arrivalDate(ofDeleted id: UniqueID, in scope: ScopeID) throws -> Timestamp?
    /// The positions of the object's edits that arrived at `date` or earlier.
    func positions(of object: UniqueID, in scope: ScopeID, pushedUntil date: Timestamp, limit: Int) throws -> [Int64]
    /// The arrival date of the object's first edit that is still stored; nil if none is stored.
    func firstArrival(of object: UniqueID, in scope: ScopeID) throws -> Timestamp?
    /// The time since which no live object has held the attachment; nil if an object holds it or if its bytes are not stored.
    func unheldDate(of attachment: UniqueID, in scope: ScopeID) throws -> Timestamp?
    /// The blobs that still have to be removed from the blob store, ordered by name.
    func removedBlobs(limit: Int) throws -> [BlobName]
    /// The uploads of all scopes that began before a date, the oldest first.
    func uploads(before date: Timestamp, limit: Int) throws -> [(scope: ScopeID, upload: Upload)]
    /// Whether the database has no accounts, and no blobs that still have to be removed from the blob store.
    func isEmpty() throws -> Bool
    /// The state of the blob store. If it is read in a transaction, its row is locked.
    func blobStoreRecord() throws -> BlobStoreRecord
    /// Whether the database has a row for this blob: the row of an attachment's blob, or the row of a blob that still has to be
    /// removed.
    func isKnown(_ name: BlobName) throws -> Bool
    /// The blobs that ``SweepTransaction/recordUnknownBlob(_:seenAt:)`` has recorded, with the dates at which they were
    /// discovered.
    func unknownBlobs() throws -> [BlobName: Timestamp]
}

/// The writes that the sweeper needs.
public protocol SweepTransaction: SweepSnapshot {
    /// Acquires or renews a lease.
    /// - Parameter holder: the process that requests the lease. No other holder can acquire the lease before the date `end`.
    /// - Returns: whether `holder` has the lease now.
    func takeLease(_ name: String, for holder: Int64, at date: Timestamp, until end: Timestamp) throws -> Bool
    func endLease(_ name: String, of holder: Int64) throws
    /// Claims objects that are due, beginning with the objects that have been due for the longest time. No other process can claim
    /// these objects before the date `claim`.
    func claimSweeps(dueBy date: Timestamp, limit: Int, until claim: Timestamp) throws -> [DueSweep]
    /// Records the values of an edit, and records that the edit has been examined.
    func record(_ edit: SweptEdit, of sweep: DueSweep) throws
    /// Removes values from an edit. The attributes and clocks of the edit remain.
    func drop(_ values: SweptEdit, of sweep: DueSweep) throws
    /// Removes an edit completely.
    func purge(editAt position: Int64, of sweep: DueSweep) throws
    /// Ends an examination and sets the date of the next examination. If a change has set an earlier date meanwhile, that date
    /// remains.
    /// - Parameter next: nil if the object need not be examined until it changes.
    func reschedule(_ sweep: DueSweep, next: Timestamp?) throws
    /// Ends the sweeps of an object that has no data left that a sweep could remove. If a change has set a new date meanwhile, that
    /// date remains.
    func finish(_ sweep: DueSweep) throws
    /// Removes the record of an attachment's blob from the scope. The sweeper removes the bytes from the blob store after the
    /// commit.
    func removeBlob(of attachment: UniqueID, in scope: ScopeID) throws
    /// Deletes the row of a blob that has been removed from the blob store.
    func forgetRemovedBlob(_ name: BlobName) throws
    func set(_ record: BlobStoreRecord) throws
    /// Deletes the oldest idempotency records of all scopes, at most `limit` records. Only records that were made at `date` or
    /// earlier are deleted.
    /// - Returns: the number of deleted records.
    func deleteIdempotencyRecords(until date: Timestamp, limit: Int) throws -> Int
    /// Records a blob for which ``SweepSnapshot/isKnown(_:)`` is false, and the date at which the blob was discovered. If the
    /// blob is already recorded, its date is not changed.
    func recordUnknownBlob(_ name: BlobName, seenAt date: Timestamp) throws
    func forgetUnknownBlob(_ name: BlobName) throws
}
