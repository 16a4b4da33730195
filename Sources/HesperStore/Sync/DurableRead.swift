import HesperModel

extension Store {
    /// Reads data on which an irreversible action will be based. If a standby becomes the primary, the commits that this standby
    /// has not received are lost, even if they were visible to readers. Therefore this function makes a commit of its own after the
    /// read and waits until the standbys confirm it. A standby that has received this commit has also received all earlier commits.
    /// - Throws: ``StoreError`` if the commit was not confirmed. The data must not be used in that case.
    public func readDurably<T: Sendable>(_ body: @escaping @Sendable (any Snapshot) throws -> T) async throws -> T {
        let reader = Int64.random(in: 1 ... .max)
        return try await write { transaction in
            let result = try body(transaction)
            // Acquire and release a lease, which always writes to the database but leaves no row behind.
            let (name, date) = ("reader-\(reader)", Timestamp(clamping: 0))
            _ = try transaction.takeLease(name, for: reader, at: date, until: date)
            try transaction.endLease(name, of: reader)
            return result
        }
    }

    /// The blobs whose removal from their scopes is durable, at most `limit`. Nothing is written if there are none.
    public func blobsToRemove(limit: Int) async throws -> [BlobName] {
        guard try await !read({ try $0.removedBlobs(limit: 1) }).isEmpty else { return [] }
        return try await readDurably { try $0.removedBlobs(limit: limit) }
    }
}
