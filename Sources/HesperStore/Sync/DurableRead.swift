import HesperModel

extension Store {
    /// Reads data on which an irreversible action will be based. A commit can be visible although the wait for its standbys was
    /// aborted, and is lost if a standby takes over. Therefore this also writes: its own commit comes after everything it has
    /// read, and a standby that has received it has also received all earlier commits.
    /// - Throws: ``StoreError`` if the commit was not confirmed. The data must not be used then.
    public func readDurably<T: Sendable>(_ body: @escaping @Sendable (any Snapshot) throws -> T) async throws -> T {
        let reader = Int64.random(in: 1 ... .max)
        return try await write { transaction in
            let result = try body(transaction)
            // A write that always takes place and leaves nothing behind.
            let (name, date) = ("reader-\(reader)", Timestamp(clamping: 0))
            _ = try transaction.takeLease(name, for: reader, at: date, until: date)
            try transaction.endLease(name, of: reader)
            return result
        }
    }

    /// Blobs whose removal from their scopes is durable. If there are none, nothing is written.
    public func blobsToRemove(limit: Int) async throws -> [BlobName] {
        guard try await !read({ try $0.removedBlobs(limit: 1) }).isEmpty else { return [] }
        return try await readDurably { try $0.removedBlobs(limit: limit) }
    }
}
