import HesperModel
import HesperStore

/// Checks that the data of all attachments exists and has the right size. The data itself is not read.
struct AttachmentPresenceCheck {
    let store: any Store
    let blobs: any BlobStore

    struct Report: Equatable {
        var count = 0
        var missing = 0
    }

    /// The maximum number of concurrent requests. The requests run concurrently because each request to a bucket takes long.
    private static let concurrency = 16

    /// Checks all attachments, and prints those that are missing or incomplete.
    func run() async throws -> Report {
        var report = Report()
        for account in try await store.read({ try $0.accounts() }) {
            let known = try await store.read { snapshot in
                var known: [Blob] = []
                try snapshot.blobs(of: account.scope) { known.append($0) }
                return known
            }
            report.count += known.count
            for start in stride(from: 0, to: known.count, by: AttachmentPresenceCheck.concurrency) {
                let batch = known[start..<min(start + AttachmentPresenceCheck.concurrency, known.count)]
                for finding in try await findings(batch) {
                    report.missing += 1
                    Terminal.printError("\(account.email): \(finding)")
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
        case nil: "The data of attachment \(blob.name.attachment) is missing: \(blob.name) does not exist."
        case let count?: "\(blob.name) has \(count) bytes instead of \(blob.data.byteCount)."
        }
    }
}
