import HesperBlobs
import HesperModel
import HesperSQLite
import HesperStore

/// Reads the files of a backup and compares them with the manifest, the database and the hashes in the file names.
struct VerifyWork {
    let folder: BackupFolder
    let manifest: BackupManifest
    /// A function that is called with a sentence for each finding.
    let report: (String) -> Void

    struct Report {
        var accounts = 0
        var attachments = 0
        var findings = 0
        /// Whether all edits were checked. They are not checked if an earlier version of Hesper wrote the database.
        var isFolded = true
    }

    func run() async throws -> Report {
        var result = Report()
        func add(_ finding: String) {
            report(finding)
            result.findings += 1
        }
        for name in manifest.missing {
            add("\(name) is not in the backup because it was already missing or damaged in the installation.")
        }
        if let damage = try await readable({ try await folder.damage(toDatabaseOf: manifest) }) { add(damage) }
        let copy = SQLiteCopy(path: folder.database(of: manifest))
        do {
            // All findings are returned together. There are only a few, unless the database is unusable.
            let overview = try await onThread { try copy.inspect() }
            overview.findings.forEach(add)
            (result.accounts, result.isFolded) = (overview.accounts, overview.isFolded)
        } catch let error as StoreError {
            add("Cannot read the whole database: \(error).")
        }
        let expected = try await expected(copy)
        result.attachments = expected.count
        try await compareBytes(of: expected, add)
        return result
    }

    /// The attachments in the database, except for those that were already missing when the backup was made. If the database
    /// cannot be read, returns the files in the folder instead.
    private func expected(_ copy: SQLiteCopy) async throws -> [AttachmentData] {
        do {
            let lost = Set(manifest.missing)
            return try await onThread { try copy.blobs() }.filter { !lost.contains($0.name.path) }.map(\.data)
        } catch is StoreError {
            return try await folder.files()
        }
    }

    private func compareBytes(of expected: [AttachmentData], _ add: (String) -> Void) async throws {
        // The bytes of each file are compared once, even if several attachments have the same bytes.
        var compared: Set<String> = []
        var progress = ProgressBar(total: expected.count, label: "attachments read")
        for data in expected {
            if compared.insert(data.sha256).inserted,
                let damage = try await readable({ try await folder.damage(to: data) })
            {
                progress.clear()
                add(damage)
            }
            progress.advance()
        }
        progress.end()
    }

    /// Describes the damage that a comparison found, or the error that occurred while reading the file. Nil if there is no
    /// damage.
    private func readable(_ compare: () async throws -> BackupDamaged?) async throws -> String? {
        do { return try await compare()?.message } catch let error as StoreError { return "\(error)." }
    }
}
