import HesperModel

extension Sweeper {
    /// Removes uploads that began more than a day ago. The row is deleted before the file, so that no row exists without its
    /// bytes.
    func uploads() async throws {
        while true {
            try await renewLease()
            let end = now().adding(-Sweep.abandonedAge)
            let old = try await store.read { try $0.uploads(before: end, limit: Sweeper.batch) }
            guard !old.isEmpty else { return }
            try await store.write { transaction in
                for (scope, upload) in old { _ = try transaction.deleteUpload(upload.uniqueID, in: scope) }
            }
            for (_, upload) in old { try await stage.remove(upload.uniqueID) }
        }
    }

    /// Removes staged files that have not belonged to any upload or import for an hour. The delay is necessary because a file is
    /// created before its row.
    func strayUploads(_ report: @escaping @Sendable (SweepEvent) -> Void) async throws {
        let now = now()
        let files = Set(try await stage.all())
        let known = try await store.read { snapshot in
            let end = Timestamp(clamping: .max)
            let uploads = try snapshot.uploads(before: end, limit: .max).map(\.upload.uniqueID)
            return Set(uploads + (try snapshot.unfinishedImports(before: end, limit: .max).map(\.uniqueID)))
        }
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
