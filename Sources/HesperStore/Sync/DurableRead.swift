import HesperModel

extension Store {
    /// Reads what is then acted on where nobody can undo it. A commit can be seen though the wait for its standbys was given
    /// up, and is gone if one of them takes over. So this one writes as well, on the server that it reads from: its own commit
    /// comes after all that it has read, and what a standby has of the log it has from the beginning.
    /// - Throws: ``StoreError``, if that could not be waited for: what was read counts for nothing.
    public func readDurably<T: Sendable>(_ body: @escaping @Sendable (any Snapshot) throws -> T) async throws -> T {
        let reader = Int64.random(in: 1 ... .max)
        return try await write { transaction in
            let result = try body(transaction)
            // Something that is written whatever is there, and of which nothing stays.
            let (name, date) = ("reader-\(reader)", Timestamp(clamping: 0))
            _ = try transaction.takeLease(name, for: reader, at: date, until: date)
            try transaction.endLease(name, of: reader)
            return result
        }
    }

    /// Blobs that the store has let go of for good. If there are none, nothing is written.
    public func blobsToRemove(limit: Int) async throws -> [BlobName] {
        guard try await !read({ try $0.removedBlobs(limit: 1) }).isEmpty else { return [] }
        return try await readDurably { try $0.removedBlobs(limit: limit) }
    }
}
