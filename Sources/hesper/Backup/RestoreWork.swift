import HesperBlobs
import HesperModel
import HesperSQLite
import HesperStore

/// Brings what a backup holds into a data folder.
struct RestoreWork {
    let folder: BackupFolder
    let manifest: BackupManifest
    let blobs: any BlobStore
    let target: RestoredFolder

    struct Report {
        var accounts = 0
        var attachments = 0
        /// The names of blobs that the backup never had.
        var missing: [String] = []
    }

    /// Restores everything. If it is refused, what it brought is removed. After an error that may pass, such as a full disk,
    /// what was brought stays, and the next restore continues.
    func run() async throws -> Report {
        var written: [BlobName] = []
        do {
            return try await restore(&written)
        } catch {
            switch error {
            case StoreError.full, StoreError.unavailable: break
            default:
                for name in written { try await blobs.remove(name) }
                try target.discard()
            }
            throw error
        }
    }

    /// The database last: only when all else is there.
    private func restore(_ written: inout [BlobName]) async throws -> Report {
        try await folder.copyDatabase(manifest, to: target.database)
        let copy = SQLiteCopy(path: target.database)
        let known = try await onThread { try copy.blobs() }
        let lost = Set(manifest.missing)
        let (wanted, missing) = (
            known.filter { !lost.contains($0.name.path) }, known.filter { lost.contains($0.name.path) }
        )
        // What is missing is known before anything has been brought.
        for blob in wanted where try await !folder.holds(blob.data) { throw folder.lack(of: blob.data) }
        var progress = ProgressBar(total: wanted.count, what: "attachments restored")
        for blob in wanted {
            if try await !isThere(blob) {
                try await restore(blob)
                written.append(blob.name)
            }
            progress.advance()
        }
        progress.end()
        let accounts = try await onThread {
            try copy.beginNewEpoch()
            return try copy.accountCount()
        }
        try target.finish()
        return Report(accounts: accounts, attachments: wanted.count, missing: missing.map(\.name.path))
    }

    private func restore(_ blob: Blob) async throws {
        _ = try await blobs.write(blob.name, try await folder.bytes(blob.data)) { [folder] found in
            guard found == blob.data else { throw folder.damage(blob.data) }
        }
    }

    /// Whether the very bytes are in place: in a bucket that was never lost, or from a restore that broke off.
    private func isThere(_ blob: Blob) async throws -> Bool {
        guard let count = try await blobs.byteCount(of: blob.name) else { return false }
        if count == blob.data.byteCount {
            var hasher = AttachmentHasher()
            for try await chunk in try await blobs.read(blob.name, 0..<count) { hasher.update(chunk) }
            if hasher.data == blob.data { return true }
        }
        try await blobs.remove(blob.name)
        return false
    }
}
