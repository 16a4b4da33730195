import HesperModel
import HesperStore

/// Reads the data of all attachments and compares it with the stored sizes and digests.
struct BlobCheck {
    let store: any Store
    let blobs: any BlobStore

    /// Checks the attachments of one account and returns a sentence for each problem.
    /// - Parameter progress: advances by one step for each attachment.
    func findings(in scope: ScopeID, _ progress: inout ProgressBar) async throws -> [String] {
        let known = try await store.read { snapshot in
            var known: [Blob] = []
            try snapshot.blobs(of: scope) { known.append($0) }
            return known
        }
        var findings: [String] = []
        for blob in known {
            if let finding = try await finding(about: blob) { findings.append(finding) }
            progress.advance()
        }
        return findings
    }

    private func finding(about blob: Blob) async throws -> String? {
        let id = blob.name.attachment
        var hasher = AttachmentHasher()
        do {
            for try await chunk in try await blobs.read(blob.name, 0..<blob.data.byteCount) { hasher.update(chunk) }
        } catch is BlobMissing {
            // If the attachment still exists, its data is missing. Otherwise the attachment was deleted during the check, which is
            // not an error.
            let isKnown = try await store.read { try $0.blob(of: id, in: blob.name.scope) } == blob
            return isKnown ? "The data of attachment \(id) is missing: \(blob.name) does not exist." : nil
        }
        let found = try await blobs.byteCount(of: blob.name) ?? hasher.byteCount
        guard found == blob.data.byteCount else {
            return "\(blob.name) has \(found) bytes instead of \(blob.data.byteCount)."
        }
        return hasher.data == blob.data ? nil : "\(blob.name) does not match its SHA-256."
    }

    /// Counts the blobs that do not belong to an attachment, for example blobs of interrupted uploads.
    func orphans() async throws -> (count: Int, byteCount: Int64) {
        var orphans: (count: Int, byteCount: Int64) = (0, 0)
        try await blobs.entries { entry in
            if let name = entry.name {
                let known = try await store.read { try $0.blob(of: name.attachment, in: name.scope) }
                guard known?.name != name else { return }
            }
            orphans.count += 1
            orphans.byteCount += entry.byteCount
        }
        return orphans
    }
}
