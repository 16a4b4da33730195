import HesperBlobs
import HesperModel
import HesperSQLite
import HesperStore

/// Brings what an installation holds at one moment into a folder.
struct BackupWork {
    let store: SQLiteStore
    let blobs: any BlobStore
    let folder: BackupFolder
    /// A backup that may have bytes which this one needs, on the same disk.
    var earlier: BackupFolder?
    /// Whether somebody is at a terminal.
    var showsProgress = true

    struct Report: Sendable {
        var manifest: BackupManifest?
        var accounts = 0
        var attachments = 0
        var copied = 0
        /// Sentences about bytes that are lost or damaged where they should be.
        var missing: [String] = []
    }

    /// Bytes that were removed for good after the moment of the copy, and before they were read: then another moment is
    /// taken, so often at most.
    private static let attempts = 5

    func run() async throws -> Report {
        for attempt in 1...BackupWork.attempts {
            let date = Timestamp.now
            let database = try folder.begin()
            try await store.copy(to: database)
            let copy = SQLiteCopy(path: database)
            let known = try await onThread { try copy.blobs() }
            var report = Report(accounts: try await onThread { try copy.accountCount() }, attachments: known.count)
            guard let missing = try await keep(known, &report, untilTheEnd: attempt == BackupWork.attempts) else {
                continue
            }
            report.manifest = try await folder.finish(
                database: database, blobs: known, missing: missing.map(\.path), date: date,
                installation: store.installation.node)
            return report
        }
        throw Failure("Attachments are being removed faster than they can be copied: try again later.")
    }

    /// Copies the bytes that are not there yet.
    /// - Returns: what is missing; nil if something was removed meanwhile, so that the copy is of a moment that has passed.
    private func keep(_ known: [Blob], _ report: inout Report, untilTheEnd: Bool) async throws -> [BlobName]? {
        var missing: [BlobName] = []
        var progress = showsProgress ? ProgressBar(total: known.count, what: "attachments looked at") : nil
        for blob in known {
            try Task.checkCancellation()
            if try await !isThere(blob) {
                switch try await keep(blob) {
                case .kept: report.copied += 1
                case .removed where !untilTheEnd: return nil
                case .removed: report.missing.append("\(blob.name) was removed while it was to be copied.")
                case .lost(let why): report.missing.append(why)
                }
                if report.missing.count > missing.count { missing.append(blob.name) }
            }
            progress?.advance()
        }
        progress?.end()
        return missing
    }

    private func isThere(_ blob: Blob) async throws -> Bool {
        if try await folder.holds(blob.data) { return true }
        guard let earlier else { return false }
        return try await folder.link(blob.data, from: earlier)
    }

    private enum Outcome {
        case kept, removed
        case lost(String)
    }

    private func keep(_ blob: Blob) async throws -> Outcome {
        do {
            let bytes = try await blobs.read(blob.name, 0..<blob.data.byteCount)
            if try await folder.keep(blob.data, bytes) { return .kept }
            return .lost("\(blob.name) has other bytes than those that were uploaded.")
        } catch is BlobMissing {
            let isKnown = try await store.read { try $0.blob(of: blob.name.attachment, in: blob.name.scope) } == blob
            return isKnown ? .lost("\(blob.name) is missing.") : .removed
        }
    }
}

extension BackupWork.Report {
    /// One line for the person at the terminal.
    func description(of folder: String) -> String {
        let parts = [count(accounts, "account"), count(attachments, "attachment")]
        let lost = missing.isEmpty ? "" : ", \(missing.count) missing or damaged"
        return "Backed up \(parts.joined(separator: " and ")) to \(folder): \(copied) copied, "
            + "\(attachments - copied - missing.count) there already\(lost)."
    }
}
