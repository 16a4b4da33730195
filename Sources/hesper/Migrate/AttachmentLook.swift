import HesperModel
import HesperStore

/// Whether the bytes of all attachments that a store names are where they are looked for, without reading them.
struct AttachmentLook {
    let store: any Store
    let blobs: any BlobStore

    struct Report: Equatable {
        var count = 0
        var missing = 0
    }

    /// How many are asked for at once: a bucket is far away.
    private static let atOnce = 16

    /// Names those that are missing, or not whole.
    func run() async throws -> Report {
        var report = Report()
        for account in try await store.read({ try $0.accounts() }) {
            let known = try await store.read { snapshot in
                var known: [Blob] = []
                try snapshot.blobs(of: account.scope) { known.append($0) }
                return known
            }
            report.count += known.count
            for start in stride(from: 0, to: known.count, by: AttachmentLook.atOnce) {
                let batch = known[start..<min(start + AttachmentLook.atOnce, known.count)]
                for finding in try await findings(batch) {
                    report.missing += 1
                    Terminal.complain("\(account.email): \(finding)")
                }
            }
        }
        return report
    }

    private func findings(_ batch: ArraySlice<Blob>) async throws -> [String] {
        try await withThrowingTaskGroup(of: String?.self) { group in
            for blob in batch { group.addTask { try await finding(blob) } }
            return try await group.reduce(into: []) { if let finding = $1 { $0.append(finding) } }.sorted()
        }
    }

    private func finding(_ blob: Blob) async throws -> String? {
        switch try await blobs.byteCount(of: blob.name) {
        case blob.data.byteCount: nil
        case nil: "The bytes of attachment \(blob.name.attachment) are missing: there is no \(blob.name)."
        case let count?: "\(blob.name) has \(count) bytes, not \(blob.data.byteCount)."
        }
    }
}
