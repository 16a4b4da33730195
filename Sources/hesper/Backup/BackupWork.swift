import HesperBlobs
import HesperModel
import HesperSQLite
import HesperStore

/// Copies an installation to a backup folder. The copy contains the state of the installation at a single moment.
struct BackupWork {
    let store: SQLiteStore
    let blobs: any BlobStore
    let folder: BackupFolder
    /// An earlier backup on the same file system. Files that it contains are linked instead of copied. Nil to copy all files.
    var earlier: BackupFolder?
    /// Whether to show progress on the terminal.
    var showsProgress = true

    struct Report: Sendable {
        var manifest: BackupManifest?
        var accounts = 0
        var attachments = 0
        var copied = 0
        /// A sentence for each attachment whose data is missing or damaged in the installation.
        var missing: [String] = []
    }

    /// The maximum number of attempts. A new attempt is made if an attachment is in the copy of the database, but its data was
    /// removed before it could be copied.
    private static let attempts = 5

    func run() async throws -> Report {
        var attempt = 0
        while true {
            attempt += 1
            let date = Timestamp.now
            let database = try folder.begin()
            try await store.copy(to: database)
            let copy = SQLiteCopy(path: database)
            let known = try await onThread { try copy.blobs() }
            var report = Report(accounts: try await onThread { try copy.accountCount() }, attachments: known.count)
            guard let missing = try await copyBlobs(known, &report, isLastAttempt: attempt == BackupWork.attempts)
            else {
                continue
            }
            report.manifest = try await folder.finish(
                database: database, blobs: known, missing: missing.map(\.path), date: date,
                installation: store.installation.node)
            return report
        }
    }

    /// Copies the attachments whose data is not in the folder yet.
    /// - Returns: the attachments whose data is missing. Nil if an attachment was removed during the backup and this is not the
    ///   last attempt. In that case the backup must start again.
    private func copyBlobs(_ known: [Blob], _ report: inout Report, isLastAttempt: Bool) async throws -> [BlobName]? {
        var missing: [BlobName] = []
        var progress = showsProgress ? ProgressBar(total: known.count, label: "attachments checked") : nil
        for blob in known {
            try Task.checkCancellation()
            if try await !isPresent(blob) {
                switch try await copy(blob) {
                case .copied: report.copied += 1
                case .removed where !isLastAttempt: return nil
                case .removed: report.missing.append("\(blob.name) was removed during the backup.")
                case .lost(let reason): report.missing.append(reason)
                }
                if report.missing.count > missing.count { missing.append(blob.name) }
            }
            progress?.advance()
        }
        progress?.end()
        return missing
    }

    private func isPresent(_ blob: Blob) async throws -> Bool {
        if try await folder.contains(blob.data) { return true }
        guard let earlier else { return false }
        return try await folder.link(blob.data, from: earlier)
    }

    private enum Outcome {
        case copied, removed
        case lost(String)
    }

    private func copy(_ blob: Blob) async throws -> Outcome {
        do {
            let bytes = try await blobs.read(blob.name, 0..<blob.data.byteCount)
            if try await folder.store(blob.data, bytes) { return .copied }
            return .lost("\(blob.name) does not match its SHA-256.")
        } catch is BlobMissing {
            let isKnown = try await store.read { try $0.blob(of: blob.name.attachment, in: blob.name.scope) } == blob
            return isKnown ? .lost("\(blob.name) is missing.") : .removed
        }
    }
}

extension BackupWork.Report {
    /// The result as one line for the user.
    func description(of folder: String) -> String {
        let parts = [counted(accounts, "account"), counted(attachments, "attachment")]
        let lost = missing.isEmpty ? "" : ", \(missing.count) missing or damaged"
        return "Backed up \(parts.joined(separator: " and ")) to \(folder): \(copied) copied, "
            + "\(attachments - copied - missing.count) already present\(lost)."
    }
}
