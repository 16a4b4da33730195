import HesperBlobs
import HesperModel
import HesperSQLite
import HesperStore

/// Brings what a backup holds into a data folder.
struct RestoreWork {
    let folder: BackupFolder
    /// Nil if it is damaged: then only a salvage can restore.
    let manifest: BackupManifest?
    let blobs: any BlobStore
    let target: RestoredFolder
    /// How to restore what is not damaged; nil to refuse a backup that is damaged.
    var salvage: Salvage?

    struct Salvage {
        /// The hash of a password that nobody has, for accounts whose own hash is lost.
        let passwordHash: String
    }

    struct Report {
        var accounts = 0
        var attachments = 0
        /// The names of blobs that the backup never had.
        var missing: [String] = []
        /// Sentences about what a salvage could not restore.
        var lost: [String] = []
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
        var report = Report(lost: try await restoreDatabase())
        let copy = SQLiteCopy(path: target.database)
        let known = try await onThread { try copy.blobs() }
        let missing = Set(manifest?.missing ?? [])
        var (wanted, forgotten): ([Blob], [Blob]) = ([], [])
        for blob in known {
            if missing.contains(blob.name.path) {
                report.missing.append(blob.name.path)
                if salvage != nil { forgotten.append(blob) }
            } else {
                // Refused before anything has been brought.
                if salvage == nil, try await !folder.holds(blob.data) { throw folder.lack(of: blob.data) }
                wanted.append(blob)
            }
        }
        var progress = ProgressBar(total: wanted.count, what: "attachments restored")
        for blob in wanted {
            if try await isThere(blob) {
                report.attachments += 1
            } else if salvage != nil, let damage = await damage(to: blob) {
                report.lost.append("\(blob.name): \(damage)")
                forgotten.append(blob)
            } else {
                try await restore(blob)
                written.append(blob.name)
                report.attachments += 1
            }
            progress.advance()
        }
        progress.end()
        report.accounts = try await onThread { [forgotten] in
            try copy.beginNewEpoch(forgetting: forgotten)
            return try copy.accountCount()
        }
        try target.finish()
        return report
    }

    /// - Returns: sentences about what could not be restored.
    private func restoreDatabase() async throws -> [String] {
        guard let salvage else {
            if let manifest { try await folder.copyDatabase(manifest, to: target.database) }
            return []
        }
        var isSound = false
        if let manifest { isSound = try await folder.damage(toDatabaseOf: manifest) == nil }
        if let manifest, isSound {
            try await folder.copyDatabase(manifest, to: target.database)
            return []
        }
        let damaged = try folder.newestDatabase()
        let work = SQLiteSalvage(
            of: damaged, to: target.database, passwordHash: salvage.passwordHash, at: .now)
        return try await onThread { try work.run() }
    }

    private func restore(_ blob: Blob) async throws {
        _ = try await blobs.write(blob.name, try await folder.bytes(blob.data)) { [folder] found in
            guard found == blob.data else { throw folder.damage(blob.data) }
        }
    }

    /// What is wrong with bytes in the backup; what the disk says if they cannot be read.
    private func damage(to blob: Blob) async -> String? {
        do { return try await folder.damage(to: blob.data)?.message } catch { return "\(error)." }
    }

    /// Whether the very bytes are in place: in a bucket that was never lost, or from a restore that was interrupted.
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
