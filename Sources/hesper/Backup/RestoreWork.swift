import HesperBlobs
import HesperModel
import HesperSQLite
import HesperStore

/// Restores a backup to a data folder.
struct RestoreWork {
    let folder: BackupFolder
    /// The manifest of the backup. Nil if the manifest is damaged. In that case, ``salvage`` must not be nil.
    let manifest: BackupManifest?
    let blobs: any BlobStore
    let target: RestoredFolder
    /// The options for restoring the undamaged parts of a damaged backup. If nil, a damaged backup is refused.
    var salvage: Salvage?

    struct Salvage {
        /// The hash of a random password. Accounts whose own password hash is lost get this hash.
        let passwordHash: String
    }

    struct Report {
        var accounts = 0
        var attachments = 0
        /// The names of the blobs that were already missing when the backup was made.
        var missing: [String] = []
        /// A sentence for each part of the data that could not be restored from a damaged backup.
        var lost: [String] = []
    }

    /// Restores the backup. After a transient error, such as a full disk, the restored files are kept, and the next restore
    /// continues with them. After any other error, the restored files are removed.
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

    /// Restores the attachments and the database. The database is put into place last, so that the installation becomes valid
    /// only when it is complete.
    private func restore(_ written: inout [BlobName]) async throws -> Report {
        var report = Report(lost: try await restoreDatabase())
        let copy = SQLiteCopy(path: target.database)
        let known = try await onThread { try copy.blobs() }
        let missing = Set(manifest?.missing ?? [])
        var (remaining, unavailable): ([Blob], [Blob]) = ([], [])
        for blob in known {
            if missing.contains(blob.name.path) {
                report.missing.append(blob.name.path)
                if salvage != nil { unavailable.append(blob) }
            } else {
                // All blobs are checked before the first blob is restored.
                if salvage == nil, try await !folder.contains(blob.data) { throw folder.missingBytes(blob.data) }
                remaining.append(blob)
            }
        }
        var progress = ProgressBar(total: remaining.count, label: "attachments restored")
        for blob in remaining {
            if try await isPresent(blob) {
                report.attachments += 1
            } else if salvage != nil, let damage = await damage(to: blob) {
                report.lost.append("\(blob.name): \(damage)")
                unavailable.append(blob)
            } else {
                try await restore(blob)
                written.append(blob.name)
                report.attachments += 1
            }
            progress.advance()
        }
        progress.end()
        report.accounts = try await onThread { [unavailable] in
            try copy.beginNewEpoch(forgetting: unavailable)
            return try copy.accountCount()
        }
        try target.finish()
        return report
    }

    /// Restores the database to a temporary place.
    /// - Returns: a sentence for each part of the data that could not be restored.
    private func restoreDatabase() async throws -> [String] {
        guard let salvage else {
            if let manifest { try await folder.copyDatabase(manifest, to: target.database) }
            return []
        }
        var isIntact = false
        if let manifest { isIntact = try await folder.damage(toDatabaseOf: manifest) == nil }
        if let manifest, isIntact {
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
            guard found == blob.data else { throw folder.corruptBytes(blob.data) }
        }
    }

    /// Describes the damage to the data of a blob in the backup, or the error that occurred while reading it. Nil if the data
    /// is intact.
    private func damage(to blob: Blob) async -> String? {
        do { return try await folder.damage(to: blob.data)?.message } catch { return "\(error)." }
    }

    /// Whether the storage already contains the bytes of the blob, for example from an interrupted restore. If the storage contains
    /// other bytes under this name, removes them and returns false.
    private func isPresent(_ blob: Blob) async throws -> Bool {
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
