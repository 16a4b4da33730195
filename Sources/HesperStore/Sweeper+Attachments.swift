import HesperModel

extension Sweeper {
    /// Lets go of bytes, having looked again while nobody else writes: both are durable before the blob store is told.
    func end(_ bytes: SweepLook.Bytes, of sweep: DueSweep) async throws {
        let (scope, id, now, grace) = (sweep.scope, sweep.object, now(), policy.grace)
        let start = turns.instant()
        switch bytes {
        case .stay: return
        case .go:
            try await store.write { transaction in
                guard let blob = try transaction.blob(of: id, in: scope),
                    blob.arrivalDate.adding(Sweep.patience) <= now,
                    try !transaction.state(of: id, in: scope).isLiveAttachment
                else { return }
                try transaction.removeBlob(of: id, in: scope)
            }
        case .goWithAttachment:
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
                // The account has gone, and its bytes with it.
            }
        }
        try await turns.rest(min(turns.instant() - start, .milliseconds(100)) * WriterTurns.restPerWork)
    }

    /// Has the blob store remove what the store has let go of; what it cannot remove now is tried again.
    func removedBlobs() async throws {
        while true {
            try await holdOn()
            let names = try await store.blobsToRemove(limit: Sweeper.batch)
            guard !names.isEmpty else { return }
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
            try await turns.write(removed, to: store) { try $1.forgetRemovedBlob($0) }
            if let failure { throw failure }
        }
    }

    /// Once a day: blobs that no row knows. A crash between the blob and its row leaves such.
    func strayBlobs(_ report: @escaping @Sendable (SweepEvent) -> Void) async throws {
        try await removeStrayBlobs(report)
        let now = now()
        let isDue = try await store.writeDerived {
            try $0.takeLease(
                "blob-walk", for: .random(in: 1 ... .max), at: now, until: now.adding(Timestamp.day))
        }
        guard isDue else { return }
        let unfinished = try await blobs.removeUnfinished(before: now.adding(-Sweep.patience))
        if unfinished > 0 { report(.unfinished(unfinished)) }
        let walk = try await Sweeper.walk(in: blobs, store, before: now.adding(-Sweep.patience), report) {
            try await self.holdOn()
        }
        if walk.isOfAnotherDatabase {
            report(.unknownBlobs(walk.unknown, of: walk.count))
        } else {
            for stray in walk.strays { strayBlobs[stray] = now }
        }
    }

    /// Strays that are remembered at once; the others are found again the next day.
    private static let strayLimit = 10_000

    /// What a walk through the blobs has found.
    private struct BlobWalk {
        var count = 0
        var unknown = 0
        /// Of those that are unknown, as many as are remembered.
        var strays: [BlobName] = []

        mutating func add(_ names: [BlobName], unknown: [BlobName]) {
            count += names.count
            self.unknown += unknown.count
            strays += unknown.prefix(strayLimit - strays.count)
        }

        /// Whether more are unknown than crashes leave: the database is empty, or older than the blobs.
        var isOfAnotherDatabase: Bool { unknown > 0 && unknown == count || unknown > 100 && unknown * 10 > count }
    }

    /// Looks at the blobs from before a date.
    private static func walk(
        in blobs: any BlobStore, _ store: any Store, before date: Timestamp,
        _ report: @escaping @Sendable (SweepEvent) -> Void, holdingOn: @Sendable () async throws -> Void
    ) async throws -> BlobWalk {
        var walk = BlobWalk()
        var names: [BlobName] = []
        func look(at entry: BlobEntry) async throws {
            guard let name = entry.name else { return report(.foreignFile(path: entry.path)) }
            guard entry.date < date else { return }
            names.append(name)
            guard names.count >= Sweeper.steps else { return }
            try await holdingOn()
            walk.add(names, unknown: try await unknown(names, in: store))
            names = []
        }
        try await blobs.entries(look)
        walk.add(names, unknown: try await unknown(names, in: store))
        return walk
    }

    /// A blob of which nothing is known an hour later either is on its way to no row.
    private func removeStrayBlobs(_ report: @escaping @Sendable (SweepEvent) -> Void) async throws {
        let end = now().adding(-Sweep.firstLook)
        var left = strayBlobs.filter { $0.value <= end }.map(\.key)[...]
        var removed = 0
        while !left.isEmpty {
            let strays = Array(left.prefix(Sweeper.steps))
            let unknown = try await store.readDurably { snapshot in
                try strays.filter { try Sweeper.isUnknown($0, in: snapshot) }
            }
            for stray in strays { strayBlobs[stray] = nil }
            for stray in unknown { try await blobs.remove(stray) }
            removed += unknown.count
            left = left.dropFirst(strays.count)
        }
        if removed > 0 { report(.strays(removed)) }
    }

    private static func unknown(_ names: [BlobName], in store: any Store) async throws -> [BlobName] {
        guard !names.isEmpty else { return [] }
        return try await store.read { snapshot in
            try names.filter { try Sweeper.isUnknown($0, in: snapshot) }
        }
    }

    private static func isUnknown(_ name: BlobName, in snapshot: any Snapshot) throws -> Bool {
        try snapshot.blob(of: name.attachment, in: name.scope)?.name != name
    }
}
