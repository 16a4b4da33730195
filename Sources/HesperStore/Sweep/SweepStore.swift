import HesperModel

/// The queries of the sweeper.
public protocol SweepSnapshot {
    /// Whether there is work: a due object, a blob to be removed, or an upload from before a date.
    func hasSweeps(dueBy date: Timestamp, uploadsBefore uploads: Timestamp) throws -> Bool
    /// The edits of an object after a position, in the order of arrival, with their values.
    /// - Parameter bytes: the number of bytes after which no more edits are read.
    /// - Returns: the edits, and whether these are all.
    func edits(
        of object: UniqueID, in scope: ScopeID, after position: Int64, limit: Int, bytes: Int
    ) throws -> (edits: [SweptEdit], isAll: Bool)
    /// The values of an object's edits that have been recorded by ``SweepTransaction/record(_:of:)``.
    func versions(of object: UniqueID, in scope: ScopeID) throws -> [StoredVersion]
    /// The devices of the scope's account that were used since a date.
    func devices(of scope: ScopeID, usedSince date: Timestamp) throws -> [Thinning.Device]
    /// The time at which the server received a deletion; nil if the object is not deleted.
    func arrivalDate(ofDeleted id: UniqueID, in scope: ScopeID) throws -> Timestamp?
    /// The positions of an object's edits that arrived at a date or earlier.
    func positions(of object: UniqueID, in scope: ScopeID, pushedUntil date: Timestamp, limit: Int) throws -> [Int64]
    /// The arrival date of an object's first edit.
    func firstArrival(of object: UniqueID, in scope: ScopeID) throws -> Timestamp?
    /// The time since which no live note has held an attachment with stored bytes; nil if a note holds it.
    func unheldDate(of attachment: UniqueID, in scope: ScopeID) throws -> Timestamp?
    /// The blobs that are to be removed from the blob store, ordered by name.
    func removedBlobs(limit: Int) throws -> [BlobName]
    /// The uploads of all scopes that began before a date, the oldest first.
    func uploads(before date: Timestamp, limit: Int) throws -> [(scope: ScopeID, upload: Upload)]
    /// Whether there are no accounts, and no blobs of deleted accounts that are still to be removed.
    func isEmpty() throws -> Bool
    /// The state of the blob store. A transaction locks its row.
    func blobStoreRecord() throws -> BlobStoreRecord
    /// Whether the database has a row for this blob, either as an attachment's or as one that is to be removed.
    func isKnown(_ name: BlobName) throws -> Bool
    /// The recorded blobs without a row, with the dates at which they were discovered.
    func unknownBlobs() throws -> [BlobName: Timestamp]
}

/// The writes of the sweeper.
public protocol SweepTransaction: SweepSnapshot {
    /// Acquires or renews a lease.
    /// - Parameter holder: the new holder. No other holder can acquire the lease until `end`.
    /// - Returns: whether the holder has the lease.
    func takeLease(_ name: String, for holder: Int64, at date: Timestamp, until end: Timestamp) throws -> Bool
    func endLease(_ name: String, of holder: Int64) throws
    /// Claims due objects, the longest due first. No other process can claim them until `claim`.
    func claimSweeps(dueBy date: Timestamp, limit: Int, until claim: Timestamp) throws -> [DueSweep]
    /// Records the values of an edit, and that it has been examined.
    func record(_ edit: SweptEdit, of sweep: DueSweep) throws
    /// Removes values of an edit. Their attributes and clocks remain.
    func drop(_ values: SweptEdit, of sweep: DueSweep) throws
    /// Removes an edit completely.
    func purge(editAt position: Int64, of sweep: DueSweep) throws
    /// Ends an examination and sets the date of the next one, unless a change has set an earlier date.
    /// - Parameter next: nil if no examination is necessary until the object changes.
    func reschedule(_ sweep: DueSweep, next: Timestamp?) throws
    /// Ends the sweeps of an object without remaining data, unless a change has set a date.
    func finish(_ sweep: DueSweep) throws
    /// Removes the bytes of an attachment from the scope. The sweeper removes them from the blob store after the commit.
    func removeBlob(of attachment: UniqueID, in scope: ScopeID) throws
    /// Deletes the record of a blob that has been removed from the blob store.
    func forgetRemovedBlob(_ name: BlobName) throws
    func set(_ record: BlobStoreRecord) throws
    /// Removes records of idempotency keys of all scopes up to a date, the oldest first.
    /// - Returns: how many were removed.
    func deleteIdempotencyRecords(until date: Timestamp, limit: Int) throws -> Int
    /// Records a blob without a row and the date of its discovery. An existing date is not changed.
    func recordUnknownBlob(_ name: BlobName, seenAt date: Timestamp) throws
    func forgetUnknownBlob(_ name: BlobName) throws
}
