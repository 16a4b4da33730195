import HesperModel
import HesperStore

/// Reads the bytes of all attachments and compares them with what is known of them.
struct BlobCheck {
    let store: any Store
    let blobs: any BlobStore

    /// What is wrong with the bytes of one account's attachments, in sentences for an operator.
    /// - Parameter progress: advanced by each.
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
            // Deleted while this went on; else it is lost.
            let isKnown = try await store.read { try $0.blob(of: id, in: blob.name.scope) } == blob
            return isKnown ? "The bytes of attachment \(id) are missing: there is no \(blob.name)." : nil
        }
        let found = try await blobs.byteCount(of: blob.name) ?? hasher.byteCount
        guard found == blob.data.byteCount else {
            return "\(blob.name) has \(found) bytes, not \(blob.data.byteCount)."
        }
        return hasher.data == blob.data ? nil : "\(blob.name) has other bytes than those that were uploaded."
    }

    /// What lies among the blobs and is nobody's: left by uploads that broke off at a bad moment, or put there by hand.
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
