import HesperModel

/// Removes what time has made superfluous, object by object, each when something of it is due: superseded values, the
/// edits of what was deleted, attachments that no note holds, bytes without an attachment (storage.md, The sweeper).
///
/// It looks in snapshots and writes in small transactions. One process sweeps at a time.
public actor Sweeper {
    let store: any Store
    let queue: PushQueue
    let blobs: any BlobStore
    let stage: any UploadStage
    let policy: SweepPolicy
    let now: @Sendable () -> Timestamp
    let throttle: WriterThrottle
    private var lease = SweepLease()
    /// Staged files that no upload was known to have, and when that was seen first.
    var strayUploads: [UniqueID: Timestamp] = [:]
    let claim: BlobClaim
    /// Why no bytes are removed; nil if they are, and before the marker was read first.
    public internal(set) var blocker: RemovalBlocker?
    /// What the sweeper knows of the marker.
    var watch = MarkerWatch()
    /// When to look for strays again.
    private var nextRound = Timestamp(clamping: .min)

    /// Between two looks at the store when nothing is due.
    public static let pause = Duration.seconds(10)
    public static let pauseAfterFailure = Duration.seconds(60)
    /// Objects that are taken to be looked at in one transaction.
    static let batch = 100
    /// Steps that are written before the lease is looked at again.
    static let steps = 500
    /// How long an object is one's own to look at, in milliseconds: longer than ``Sweep/firstLook``, so that a change that
    /// comes meanwhile sets an earlier date and is noticed by that.
    static let claim = 2 * Sweep.firstCheckDelay

    /// - Parameter queue: the server's, before which the deletions of attachments wait like all pushes.
    public init(
        store: any Store, queue: PushQueue, blobs: any BlobStore, stage: any UploadStage, policy: SweepPolicy,
        now: @escaping @Sendable () -> Timestamp, throttle: WriterThrottle = WriterThrottle()
    ) {
        self.store = store
        self.queue = queue
        self.blobs = blobs
        self.stage = stage
        self.policy = policy
        self.now = now
        self.throttle = throttle
        claim = BlobClaim(store: store, blobs: blobs)
    }

    /// Lets another process sweep at once.
    public func end() async { try? await lease.end(in: store) }

    /// Does all that is due now, unless another process is at it. What fails is told, left for the next time, and keeps
    /// nothing else from being done.
    /// - Returns: whether nothing failed.
    @discardableResult
    public func sweep(report: @escaping @Sendable (SweepEvent) -> Void) async -> Bool {
        var isWell = true
        for chore in Chore.allCases {
            do {
                // Every server reads the marker, whichever of them sweeps.
                if chore == .marker, watch.isDue(at: now()) { _ = try await lookAtMarker(report) }
                guard try await isDue(), try await hold() else { return isWell }
                switch chore {
                case .marker: try await renewMarker(report)
                case .objects: try await objects(report)
                case .removedBlobs: try await removedBlobs(report)
                case .uploads: try await uploads()
                case .strays: try await strays(report)
                }
            } catch is CancellationError {
                return isWell
            } catch is SweepInterrupted {
                return isWell
            } catch {
                // A chore that is cancelled may fail with any error.
                if Task.isCancelled { return isWell }
                isWell = false
                report(.failed(error))
            }
        }
        return isWell
    }

    private enum Chore: CaseIterable { case marker, objects, removedBlobs, uploads, strays }

    /// Whether there is anything to do: while there is not, nothing is written, not even the lease.
    private func isDue() async throws -> Bool {
        let now = now()
        if nextRound <= now || watch.isRenewalDue(at: now) { return true }
        return try await store.read {
            try $0.hasSweeps(dueBy: now, uploadsBefore: now.adding(-Sweep.abandonedAge))
        }
    }

    func hold() async throws -> Bool {
        var lease = lease
        defer { self.lease = lease }
        return try await lease.hold(in: store, at: now())
    }

    /// Goes on only while no other process has taken over.
    func holdOn() async throws {
        try Task.checkCancellation()
        guard try await hold() else { throw SweepInterrupted() }
    }

    // MARK: Objects

    private func objects(_ report: @escaping @Sendable (SweepEvent) -> Void) async throws {
        while true {
            try await holdOn()
            let (now, claim) = (now(), now().adding(Sweeper.claim))
            let due = try await store.writeDerived {
                try $0.claimSweeps(dueBy: now, limit: Sweeper.batch, until: claim)
            }
            guard !due.isEmpty else { return }
            var steps: [SweepStep] = []
            for sweep in due {
                do {
                    try await look(at: sweep, &steps)
                } catch let error as StoreError where !error.isUnavailable {
                    // What is wrong with one object holds up no other. It is tried again when the claim is over.
                    report(.failed(error))
                }
            }
            try await write(&steps)
        }
    }

    /// Looks at one object until all of it was looked at.
    private func look(at sweep: DueSweep, _ steps: inout [SweepStep]) async throws {
        var sweep = sweep
        while true {
            let (objects, current) = (ObjectSweep(policy: policy, now: now()), sweep)
            let look = try await store.read { try objects.look(current, in: $0) }
            steps += look.steps
            guard look.hasMore else {
                if look.bytes == .stay {
                    steps.append(look.isOver ? .forget(sweep) : .end(sweep, next: look.next))
                } else {
                    try await end(look.bytes, of: sweep)
                    // Somebody may have been quicker, so that they are still needed.
                    steps.append(.end(sweep, next: now().adding(Sweep.firstCheckDelay)))
                }
                if steps.count >= Sweeper.steps { try await write(&steps) }
                return
            }
            try await write(&steps)
            for case .keep(let edit, _) in look.steps { sweep.position = edit.position }
        }
    }

    /// Scope by scope, in the order of their IDs, as pushes lock them; those of one object stay in their order.
    private func write(_ steps: inout [SweepStep]) async throws {
        var left = steps.enumerated()
            .sorted { ($0.element.sweep.scope, $0.offset) < ($1.element.sweep.scope, $1.offset) }.map(\.element)[...]
        steps = []
        while !left.isEmpty {
            try await holdOn()
            try await throttle.write(Array(left.prefix(Sweeper.steps)), to: store) { try $0.apply(to: $1) }
            left = left.dropFirst(Sweeper.steps)
        }
    }

    // MARK: Strays

    /// Once an hour: what crashes have left beside the store.
    private func strays(_ report: @escaping @Sendable (SweepEvent) -> Void) async throws {
        guard nextRound <= now() else { return }
        nextRound = now().adding(Sweep.firstCheckDelay)
        try await strayUploads(report)
        try await unknownBlobs(report)
    }
}

/// Another process has taken over.
struct SweepInterrupted: Error {}

/// Something that an operator may want to know.
public enum SweepEvent: Sendable {
    /// A chore failed and is tried again.
    case failed(any Error)
    /// Among the blobs lies something that Hesper has never put there; it is left alone.
    case foreignFile(path: String)
    /// No bytes of attachments are removed.
    case removalBlocked(RemovalBlocker)
    /// Bytes of attachments are removed again.
    case removalResumed
    /// So many blobs, or staged files, that nothing knew were removed.
    case strays(Int)
    /// So many writes that broke off had left something, which was removed.
    case unfinished(Int)
}
