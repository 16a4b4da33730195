import HesperBlobs
import HesperModel
import HesperSQLite
import HesperStore

/// Reads all of a backup and compares it with what its names, its manifest and its database say.
struct VerifyWork {
    let folder: BackupFolder
    let manifest: BackupManifest
    /// Called with each finding, a sentence.
    let report: (String) -> Void

    struct Report {
        var accounts = 0
        var attachments = 0
        var findings = 0
        /// Whether all edits were folded again: not if an earlier version wrote the database.
        var isFolded = true
    }

    func run() async throws -> Report {
        var result = Report()
        func add(_ finding: String) {
            report(finding)
            result.findings += 1
        }
        for name in manifest.missing { add("\(name) is not in the backup: it was lost or damaged before.") }
        if let damage = try await readable({ try await folder.damage(toDatabaseOf: manifest) }) { add(damage) }
        let copy = SQLiteCopy(path: folder.database(of: manifest))
        do {
            // One thread reads, and gives all findings at once: there are few, or the database is of no use.
            let look = try await onThread { try copy.inspect() }
            look.findings.forEach(add)
            (result.accounts, result.isFolded) = (look.accounts, look.isFolded)
        } catch let error as StoreError {
            add("The database cannot be read to its end: \(error).")
        }
        let wanted = try await wanted(copy)
        result.attachments = wanted.count
        try await compareBytes(of: wanted, add)
        return result
    }

    /// The bytes that the database has, but for those that the backup never had. If the database cannot tell, those that are there.
    private func wanted(_ copy: SQLiteCopy) async throws -> [AttachmentData] {
        do {
            let lost = Set(manifest.missing)
            return try await onThread { try copy.blobs() }.filter { !lost.contains($0.name.path) }.map(\.data)
        } catch is StoreError {
            return try await folder.files()
        }
    }

    private func compareBytes(of wanted: [AttachmentData], _ add: (String) -> Void) async throws {
        // Several attachments may have the same bytes.
        var compared: Set<String> = []
        var progress = ProgressBar(total: wanted.count, what: "attachments read")
        for data in wanted {
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

    /// What a comparison found; what the disk says if the file cannot be read.
    private func readable(_ compare: () async throws -> BackupDamaged?) async throws -> String? {
        do { return try await compare()?.message } catch let error as StoreError { return "\(error)." }
    }
}
