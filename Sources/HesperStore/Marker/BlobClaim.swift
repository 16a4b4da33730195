import HesperModel

/// Checks whether the stored attachments belong to a database. They do if the marker, a file beside the attachments, contains a
/// nonce that the database has recorded (storage.md, The marker).
///
///     if let blocker = try await BlobClaim(store: store, blobs: blobs).removalBlocker() { … }   // remove nothing
public struct BlobClaim: Sendable {
    let store: any Store
    let blobs: any BlobStore

    public init(store: any Store, blobs: any BlobStore) {
        self.store = store
        self.blobs = blobs
    }

    /// Returns the reason why no attachments may be removed, or nil if attachments may be removed. Must be called before every
    /// batch of removals.
    /// - Throws: ``StoreError`` if the marker or the database cannot be read.
    public func removalBlocker() async throws -> RemovalBlocker? { try await inspect().blocker }

    private func inspect() async throws -> (blocker: RemovalBlocker?, marker: BlobMarker?) {
        var record = try await store.read { try $0.blobStoreRecord() }
        while true {
            let bytes = try await blobs.marker()
            let before = record
            record = try await store.read { try $0.blobStoreRecord() }
            let blocker = try await blocker(for: bytes, record)
            // Another process may have renewed the marker between these reads. The nonce of the new marker then seems to be
            // unknown although the database has recorded it, so the marker and the database are read again.
            let isUnchanged = record.currentNonce == before.currentNonce && record.nextNonce == before.nextNonce
            if blocker == nil || isUnchanged { return (blocker, bytes.flatMap(BlobMarker.init)) }
        }
    }

    private func blocker(for bytes: [UInt8]?, _ record: BlobStoreRecord) async throws -> RemovalBlocker? {
        guard let bytes else {
            if try await isOfLostDatabase() { return .lostDatabase }
            return record.currentNonce == nil ? .unmarked : .missing
        }
        guard let marker = BlobMarker(bytes) else { return .damaged }
        guard marker.installation == store.installation.node else { return .otherInstallation(marker.installation) }
        guard !marker.isContested else { return .contested }
        guard record.accepts(marker.nonce) else { return .otherNonce }
        return record.hasTooManyUnknown ? record.walk.map(RemovalBlocker.tooManyUnknown) : nil
    }

    /// The current marker; nil if no marker exists or if the marker cannot be parsed.
    public func marker() async throws -> BlobMarker? { try await blobs.marker().flatMap(BlobMarker.init) }

    /// Whether the blob store contains blobs although the database is empty.
    private func isOfLostDatabase() async throws -> Bool {
        guard try await store.read({ try $0.isEmpty() }) else { return false }
        struct Found: Error {}
        do {
            try await blobs.entries { if $0.name != nil { throw Found() } }
            return false
        } catch is Found {
            return true
        }
    }

    // MARK: Writing

    /// Replaces the marker with a marker that has a new nonce, so that servers on older copies of the database are detected. If
    /// no marker exists and the database has never written one, the first marker is written.
    /// - Returns: the reason why the marker was not replaced; nil if it was replaced. ``RemovalBlocker/tooManyUnknown(_:)`` does
    ///   not prevent the replacement.
    public func renew() async throws -> RemovalBlocker? {
        let (blocker, marker) = try await inspect()
        if let blocker, blocker.isOfMarker, blocker != .unmarked { return blocker }
        let nonce = try await store.write { transaction in
            var record = try transaction.blobStoreRecord()
            let nonce: UInt64
            if let next = record.nextNonce, next != marker?.nonce {
                // If a renewal was interrupted, or another process is executing one, continue that renewal with its nonce.
                nonce = next
            } else {
                if let next = record.nextNonce { record.currentNonce = next }
                nonce = .random(in: .min ... .max)
                record.nextNonce = nonce
            }
            // The standbys must receive the nonce before the marker is written. A commit does not wait for the standbys if the
            // transaction wrote nothing. Therefore the record is written even if it is unchanged.
            try transaction.set(record)
            return nonce
        }
        try await put(nonce)
        return nil
    }

    /// Assigns the attachments to this database, regardless of the content of the marker. Unknown blobs then count as newly
    /// discovered, so they are not removed before another 30 days have passed.
    /// - Parameter unknown: the number of unknown files that were reported to the operator and accepted.
    public func adopt(acceptingUnknown unknown: Int) async throws {
        let nonce = try await store.write { transaction in
            var record = try transaction.blobStoreRecord()
            // A server may be renewing the marker concurrently. In that case, use the nonce that the server is writing.
            let nonce = record.nextNonce ?? .random(in: .min ... .max)
            record.nextNonce = nonce
            record.acceptedUnknown = unknown
            try transaction.set(record)
            for name in try transaction.unknownBlobs().keys { try transaction.forgetUnknownBlob(name) }
            return nonce
        }
        try await put(nonce)
    }

    /// Writes a marker with this nonce, which the database has already recorded as the next nonce. Then records the nonce as the
    /// current nonce.
    private func put(_ nonce: UInt64) async throws {
        try await blobs.setMarker(BlobMarker(installation: store.installation.node, nonce: nonce).bytes)
        try await store.write { transaction in
            var record = try transaction.blobStoreRecord()
            guard record.nextNonce == nonce else { return }
            record.currentNonce = nonce
            record.nextNonce = nil
            try transaction.set(record)
        }
    }

    /// Marks the attachments as contested if another database has written the marker. While they are contested, no server removes
    /// attachments.
    func contest() async throws {
        let (blocker, marker) = try await inspect()
        guard let blocker, blocker.isOfAnotherDatabase, var marker else { return }
        marker.isContested = true
        try await blobs.setMarker(marker.bytes)
    }
}
