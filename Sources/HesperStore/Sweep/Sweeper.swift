import HesperModel

/// Removes expired data: superseded values, edits of deleted objects, attachments that no object holds, and blobs without an
/// attachment object (storage.md, The sweeper).
///
/// The sweeper examines one object at a time, when the object is due. It reads in snapshots and writes in small transactions.
/// Only one process sweeps at a time.
public actor Sweeper {
    let store: any Store
    let queue: PushQueue
    let blobs: any BlobStore
    let stage: any UploadStage
    let policy: SweepPolicy
    let now: @Sendable () -> Timestamp
    let throttle: WriterThrottle
    private var lease = Lease.sweeper
    /// Staged files that belong to no upload, with the dates at which they were discovered.
    var strayUploads: [UniqueID: Timestamp] = [:]
    let claim: BlobClaim
    /// The reason why no attachments are removed; nil if attachments are removed, or if the marker has not been read yet.
    public internal(set) var removalBlocker: RemovalBlocker?
    var watch = MarkerWatch()
    /// The time of the next search for stray files.
    private var nextStrayCheck = Timestamp(clamping: .min)

    /// The time between two polls of the database when nothing is due.
    public static let pause = Duration.seconds(10)
    public static let pauseAfterFailure = Duration.seconds(60)
    /// The maximum number of objects that are claimed in one transaction.
    static let batch = 100
    /// The maximum number of steps that are written before the lease is renewed.
    static let steps = 500
    /// The time until a claim expires, in milliseconds. It is longer than ``Sweep/firstCheckDelay``, so a change during the
    /// examination sets a due date before the end of the claim. The sweeper detects the change by this earlier due date.
    static let claim = 2 * Sweep.firstCheckDelay

    /// - Parameter queue: the server's push queue, to which deletions of attachments are submitted.
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

    /// Releases the lease, so that another process can sweep immediately.
    public func end() async { try? await lease.end(in: store) }

    /// Executes all work that is due, unless another process holds the lease. If one job fails, its error is reported, the other
    /// jobs are still executed, and the failed job is retried in the next sweep.
    /// - Returns: false if a job has failed.
    @discardableResult
    public func sweep(report: @escaping @Sendable (SweepEvent) -> Void) async -> Bool {
        var hasSucceeded = true
        for job in Job.allCases {
            do {
                // Every server checks the marker, including servers that do not hold the lease.
                if job == .marker, watch.isDue(at: now()) { _ = try await checkMarker(report) }
                guard try await isDue(), try await hold() else { return hasSucceeded }
                switch job {
                case .marker: try await renewMarker(report)
                case .objects: try await objects(report)
                case .removedBlobs: try await removedBlobs(report)
                case .uploads: try await uploads()
                case .strays: try await strays(report)
                }
            } catch is CancellationError {
                return hasSucceeded
            } catch is SweepInterrupted {
                return hasSucceeded
            } catch {
                // An error after a cancellation is not reported, because it may be a consequence of the cancellation.
                if Task.isCancelled { return hasSucceeded }
                hasSucceeded = false
                report(.failed(error))
            }
        }
        return hasSucceeded
    }

    private enum Job: CaseIterable { case marker, objects, removedBlobs, uploads, strays }

    /// Whether any work is due. If no work is due, nothing is written, not even the lease.
    private func isDue() async throws -> Bool {
        let now = now()
        if nextStrayCheck <= now || watch.isRenewalDue(at: now) { return true }
        return try await store.read {
            try $0.hasSweeps(dueBy: now, uploadsBefore: now.adding(-Sweep.abandonedAge))
        }
    }

    /// Acquires or renews the lease, if necessary.
    /// - Returns: whether this process holds the lease.
    func hold() async throws -> Bool {
        var lease = lease
        defer { self.lease = lease }
        return try await lease.hold(in: store, at: now())
    }

    /// Renews the lease if it expires soon.
    /// - Throws: ``SweepInterrupted`` if another process holds the lease.
    func renewLease() async throws {
        try Task.checkCancellation()
        guard try await hold() else { throw SweepInterrupted() }
    }

    // MARK: Objects

    private func objects(_ report: @escaping @Sendable (SweepEvent) -> Void) async throws {
        while true {
            try await renewLease()
            let (now, claim) = (now(), now().adding(Sweeper.claim))
            let due = try await store.writeDerived {
                try $0.claimSweeps(dueBy: now, limit: Sweeper.batch, until: claim)
            }
            guard !due.isEmpty else { return }
            var steps: [SweepStep] = []
            for sweep in due {
                do {
                    try await examine(sweep, &steps)
                } catch let error as StoreError where !error.isUnavailable {
                    // An error in one object must not prevent the examination of the other objects. This object is examined again
                    // when its claim expires.
                    report(.failed(error))
                }
            }
            try await write(&steps)
        }
    }

    /// Examines an object until all of its data has been examined, and adds the resulting steps to `steps`.
    private func examine(_ sweep: DueSweep, _ steps: inout [SweepStep]) async throws {
        var sweep = sweep
        while true {
            let (objects, current) = (ObjectSweep(policy: policy, now: now()), sweep)
            let findings = try await store.read { try objects.examine(current, in: $0) }
            steps += findings.steps
            guard findings.hasMore else {
                if findings.blobAction == .none {
                    steps.append(findings.isFinal ? .finish(sweep) : .reschedule(sweep, next: findings.next))
                } else {
                    try await apply(findings.blobAction, of: sweep)
                    // A concurrent change may have prevented the action, so the object is scheduled for another examination.
                    steps.append(.reschedule(sweep, next: now().adding(Sweep.firstCheckDelay)))
                }
                if steps.count >= Sweeper.steps { try await write(&steps) }
                return
            }
            try await write(&steps)
            for case .record(let edit, _) in findings.steps { sweep.position = edit.position }
        }
    }

    /// Writes the steps in the order of their scope IDs. Pushes lock scopes in the same order, so no deadlock can occur. The
    /// steps of each scope keep their order.
    private func write(_ steps: inout [SweepStep]) async throws {
        var remaining = steps.enumerated()
            .sorted { ($0.element.sweep.scope, $0.offset) < ($1.element.sweep.scope, $1.offset) }.map(\.element)[...]
        steps = []
        while !remaining.isEmpty {
            try await renewLease()
            try await throttle.write(Array(remaining.prefix(Sweeper.steps)), to: store) { try $0.apply(to: $1) }
            remaining = remaining.dropFirst(Sweeper.steps)
        }
    }

    // MARK: Stray files

    /// Once an hour, removes expired idempotency records. Also removes staged files that belong to neither an upload nor an import.
    /// Once a day, in addition, searches for blobs without a row.
    private func strays(_ report: @escaping @Sendable (SweepEvent) -> Void) async throws {
        guard nextStrayCheck <= now() else { return }
        nextStrayCheck = now().adding(Sweep.firstCheckDelay)
        try await idempotencyRecords()
        try await strayUploads(report)
        try await unknownBlobs(report)
    }

    /// Removes expired records of idempotency keys.
    private func idempotencyRecords() async throws {
        let end = now().adding(-Int64(Limits.idempotencyKeySeconds) * 1_000)
        repeat {
            try await renewLease()
        } while try await store.writeDerived({
            try $0.deleteIdempotencyRecords(until: end, limit: Sweeper.steps)
        }) == Sweeper.steps
    }
}

/// The error for a sweep that stops because another process holds the lease.
struct SweepInterrupted: Error {}

/// An event during a sweep, for the log.
public enum SweepEvent: Sendable {
    /// A job failed and will be retried.
    case failed(any Error)
    /// The folder or bucket of blobs contains a file that Hesper has not written. The file is ignored.
    case foreignFile(path: String)
    /// A problem was found. No attachments are removed until the operator solves it. The associated value is the problem.
    case removalBlocked(RemovalBlocker)
    /// The problem that prevented the removal of attachments has been solved. Attachments are removed again.
    case removalResumed
    /// Blobs or staged files without a row in the database were removed. The associated value is the count of removed files.
    case strays(Int)
    /// Partial data of interrupted writes to the blob store was removed. The associated value is the number of these writes.
    case unfinished(Int)
}
