import HesperModel

/// Whether the bytes of attachments belong to a database: the marker beside them has a nonce that the database knows
/// (storage.md, The marker).
///
///     if let blocker = try await BlobClaim(store: store, blobs: blobs).removalBlocker() { … }   // remove nothing
public struct BlobClaim: Sendable {
    let store: any Store
    let blobs: any BlobStore

    public init(store: any Store, blobs: any BlobStore) {
        self.store = store
        self.blobs = blobs
    }

    /// Why no bytes may be removed; nil if they may. Asked before every batch.
    /// - Throws: ``StoreError``, if the marker or the database cannot be read.
    public func blocker() async throws -> RemovalBlocker? { try await look().removalBlocker }

    private func look() async throws -> (blocker: RemovalBlocker?, marker: BlobMarker?) {
        var record = try await store.read { try $0.blobStoreRecord() }
        while true {
            let bytes = try await blobs.marker()
            let before = record
            record = try await store.read { try $0.blobStoreRecord() }
            let blocker = try await judge(bytes, record)
            // What another process renewed between these reads is no foreign nonce: both are read again.
            let isSteady = record.currentNonce == before.currentNonce && record.nextNonce == before.nextNonce
            if blocker == nil || isSteady { return (blocker, bytes.flatMap(BlobMarker.init)) }
        }
    }

    private func judge(_ bytes: [UInt8]?, _ record: BlobStoreRecord) async throws -> RemovalBlocker? {
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

    /// The marker that is in place; nil if there is none, or it cannot be understood.
    public func marker() async throws -> BlobMarker? { try await blobs.marker().flatMap(BlobMarker.init) }

    /// Whether there are bytes of attachments beside a database that has nothing.
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

    /// Replaces the marker by one with a new nonce, so that every older copy of the database is found out. A first marker
    /// is written where there is none and the database never wrote one.
    /// - Returns: why it was left as it is; nil if it was replaced. Too many unknown blobs do not keep it from that.
    public func renew() async throws -> RemovalBlocker? {
        let (blocker, marker) = try await look()
        if let blocker, blocker.isOfMarker, blocker != .unmarked { return blocker }
        let nonce = try await store.write { transaction in
            var record = try transaction.blobStoreRecord()
            let nonce: UInt64
            if let next = record.nextNonce, next != marker?.nonce {
                // Of a renewal that broke off, or that another process is at: two at once come to one nonce.
                nonce = next
            } else {
                if let next = record.nextNonce { record.currentNonce = next }
                nonce = .random(in: .min ... .max)
                record.nextNonce = nonce
            }
            // Also where nothing changes: this commit waits for the standbys.
            try transaction.set(record)
            return nonce
        }
        try await put(nonce)
        return nil
    }

    /// Makes the bytes those of this database, whatever the marker says. The 30 days of unknown blobs begin anew.
    /// - Parameter unknown: the number of unknown files that the operator was told of and accepted.
    public func adopt(acceptingUnknown unknown: Int) async throws {
        let nonce = try await store.write { transaction in
            var record = try transaction.blobStoreRecord()
            // A server may be renewing the marker at this moment: both come to one nonce.
            let nonce = record.nextNonce ?? .random(in: .min ... .max)
            record.nextNonce = nonce
            record.acceptedUnknown = unknown
            try transaction.set(record)
            for name in try transaction.unknownBlobs().keys { try transaction.forgetUnknownBlob(name) }
            return nonce
        }
        try await put(nonce)
    }

    /// Puts a marker in place whose nonce the database already knows as the next one, and then as the current one.
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

    /// Has nobody remove anything any more, as another database has written the marker.
    func contest() async throws {
        let (blocker, marker) = try await look()
        guard let blocker, blocker.isOfAnotherDatabase, var marker else { return }
        marker.isContested = true
        try await blobs.setMarker(marker.bytes)
    }
}
