import HesperModel

extension Sweeper {
    /// Uploads that began more than a day ago: the row first, so that none promises bytes that are gone.
    func uploads() async throws {
        while true {
            try await holdOn()
            let end = now().adding(-Sweep.abandonedAge)
            let old = try await store.read { try $0.uploads(before: end, limit: Sweeper.batch) }
            guard !old.isEmpty else { return }
            try await store.write { transaction in
                for (scope, upload) in old { _ = try transaction.deleteUpload(upload.uniqueID, in: scope) }
            }
            for (_, upload) in old { try await stage.remove(upload.uniqueID) }
        }
    }

    /// Staged files that belong to no upload, now and an hour ago: a file and its row are made one after the other.
    func strayUploads(_ report: @escaping @Sendable (SweepEvent) -> Void) async throws {
        let now = now()
        let files = Set(try await stage.all())
        let known = Set(
            try await store.read { try $0.uploads(before: Timestamp(clamping: .max), limit: .max) }
                .map(\.upload.uniqueID))
        strayUploads = strayUploads.filter { files.contains($0.key) && !known.contains($0.key) }
        var removed = 0
        for file in files.subtracting(known) {
            guard let first = strayUploads[file] else {
                strayUploads[file] = now
                continue
            }
            guard first.adding(Sweep.firstCheckDelay) <= now else { continue }
            try await stage.remove(file)
            strayUploads[file] = nil
            removed += 1
        }
        if removed > 0 { report(.strays(removed)) }
    }
}
