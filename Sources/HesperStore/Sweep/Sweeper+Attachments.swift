import HesperModel

extension Sweeper {
    /// Removes a blob from its scope, or deletes an attachment and its blob. While the scope is locked, checks again whether the
    /// blob has expired. The bytes are removed from the blob store later, when this transaction is durable.
    func apply(_ action: SweepFindings.BlobAction, of sweep: DueSweep) async throws {
        let (scope, id, now, grace) = (sweep.scope, sweep.object, now(), policy.grace)
        let start = throttle.instant()
        switch action {
        case .none: return
        case .remove:
            try await store.write { transaction in
                guard let blob = try transaction.blob(of: id, in: scope),
                    blob.arrivalDate.adding(Sweep.abandonedAge) <= now,
                    try !transaction.state(of: id, in: scope).isLiveAttachment
                else { return }
                try transaction.removeBlob(of: id, in: scope)
            }
        case .deleteAttachment:
            let node = store.installation.node
            let writer = Scope(scope, queue: queue, installation: store.installation, now: self.now)
            do {
                _ = try await writer.write(by: node) { transaction, _, _ in
                    guard try transaction.state(of: id, in: scope).isLiveAttachment,
                        let unheld = try transaction.unheldDate(of: id, in: scope), unheld.adding(grace) <= now,
                        try transaction.bag(of: scope).holders(of: id).isEmpty
                    else { return Push() }
                    return Push([.deletion(Deletion(uniqueID: id, objectType: .attachment))])
                }
            } catch let problem as Problem where problem.slug == .unauthenticated {
                // The account was deleted with its attachments.
            }
        }
        try await throttle.rest(min(throttle.instant() - start, .milliseconds(100)) * WriterThrottle.restPerWork)
    }

    /// Removes from the blob store the blobs that were removed from their scopes. A failed removal is retried in the next sweep.
    func removedBlobs(_ report: @escaping @Sendable (SweepEvent) -> Void) async throws {
        while true {
            try await renewLease()
            guard try await !store.read({ try $0.removedBlobs(limit: 1) }).isEmpty, try await mayRemoveBytes(report)
            else { return }
            let names = try await store.blobsToRemove(limit: Sweeper.batch)
            var removed: [BlobName] = []
            var failure: (any Error)?
            for name in names {
                do {
                    try await blobs.remove(name)
                    removed.append(name)
                } catch {
                    failure = error
                    break
                }
            }
            try await throttle.write(removed, to: store) { try $1.forgetRemovedBlob($0) }
            if let failure { throw failure }
        }
    }

    /// Searches once a day for blobs without a row. Such blobs exist if a server crashed after it wrote a blob and before it
    /// committed the row, or if an older database was restored. They are removed 30 days after they were discovered.
    func unknownBlobs(_ report: @escaping @Sendable (SweepEvent) -> Void) async throws {
        let now = now()
        if let blocker = try await checkMarker(report), blocker.isOfMarker { return }
        guard watch.allowsRemoval(at: now) else { return }
        let isDue = try await store.writeDerived {
            try $0.takeLease(
                "blob-walk", for: .random(in: 1 ... .max), at: now, until: now.adding(Timestamp.day))
        }
        guard isDue else { return }
        let seen = try await walk(at: now, report)
        guard try await mayRemoveBytes(report) else { return }
        let unfinished = try await blobs.removeUnfinished(before: now.adding(-Sweep.abandonedAge))
        if unfinished > 0 { report(.unfinished(unfinished)) }
        let end = now.adding(-Sweep.unknownAge)
        try await removeUnknown(seen.filter { $0.value <= end }.map(\.key), report)
    }

    /// Walks through all blobs and records the blobs that have no row.
    /// - Returns: the blobs that were recorded before and still have no row, with the dates at which they were discovered.
    private nonisolated func walk(
        at now: Timestamp, _ report: @escaping @Sendable (SweepEvent) -> Void
    ) async throws -> [BlobName: Timestamp] {
        let recorded = try await store.read { try $0.unknownBlobs() }
        var (seen, new): ([BlobName: Timestamp], [BlobName]) = ([:], [])
        let walk = try await BlobWalk.run(
            in: blobs, knownTo: store, at: now, before: now.adding(-Sweep.abandonedAge),
            foreign: { report(.foreignFile(path: $0)) },
            unknown: { unknown in
                try await self.renewLease()
                for name in unknown {
                    if let date = recorded[name] {
                        seen[name] = date
                    } else if recorded.count + new.count < Sweep.unknownLimit {
                        new.append(name)
                    }
                }
            })
        // These blobs have a row now or no longer exist.
        let forgotten = recorded.keys.filter { seen[$0] == nil }
        try await throttle.write(forgotten, to: store) { try $1.forgetUnknownBlob($0) }
        try await throttle.write(new, to: store) { try $1.recordUnknownBlob($0, seenAt: now) }
        try await store.write { transaction in
            var record = try transaction.blobStoreRecord()
            record.walk = walk
            record.acceptedUnknown = min(record.acceptedUnknown, walk.unknownFiles)
            try transaction.set(record)
        }
        return seen
    }

    private func removeUnknown(
        _ names: [BlobName], _ report: @escaping @Sendable (SweepEvent) -> Void
    ) async throws {
        var (remaining, removed) = (names[...], 0)
        while !remaining.isEmpty {
            try await renewLease()
            guard try await mayRemoveBytes(report) else { break }
            let batch = Array(remaining.prefix(Sweeper.batch))
            let unknown = try await store.readDurably { snapshot in try batch.filter { try !snapshot.isKnown($0) } }
            for name in unknown { try await blobs.remove(name) }
            try await throttle.write(batch, to: store) { try $1.forgetUnknownBlob($0) }
            removed += unknown.count
            remaining = remaining.dropFirst(batch.count)
        }
        if removed > 0 { report(.strays(removed)) }
    }
}
