import HesperArchive
import HesperImport
import HesperModel
import HesperMoveIn
import HesperStore
import Logging

/// Does the work of the imports of all accounts in the background, one import at a time (``ImportWork``).
///
/// A lease on each import ensures that only one server works on it. After a restart or a crash, the work starts again at the
/// beginning of the file. No notes are duplicated, because their IDs are derived from the file.
struct ImportWorker: Sendable {
    let backend: Backend
    let stage: any UploadStage
    let limits: ImportLimits
    let maximumAttachmentBytes: Int64
    let logger: Logger
    /// Fired when an import enters the state `reading` or `writing`.
    let trigger = Trigger()
    private let executor = ImportExecutor()

    /// The time between two polls of the database when nothing is due.
    private static let pause = Duration.seconds(10)
    static let pauseAfterFailure = Duration.seconds(5)
    /// The time between two polls while another server holds the lease on an import. That server may have been killed.
    private static let pauseWhileHeld = Duration.seconds(3)
    /// The duration of a lease, in milliseconds. If a server is killed, another server can continue its import after at most this
    /// time.
    private static let leaseLength: Int64 = 15_000
    /// A lease is renewed when its remaining time is less than this number of milliseconds.
    private static let leaseRenewal: Int64 = 11_000
    private static let renewalPause = Duration.seconds(4)
    /// The maximum number of expired imports that are removed in one step.
    private static let batch = 100

    init(
        backend: Backend, stage: any UploadStage, limits: ImportLimits, maximumAttachmentBytes: Int64, logger: Logger
    ) {
        (self.backend, self.stage, self.limits) = (backend, stage, limits)
        (self.maximumAttachmentBytes, self.logger) = (maximumAttachmentBytes, logger)
        if let folder = limits.folder { ImportFolder.removeAbandoned(in: folder) }
    }

    var loop: BackgroundLoop {
        BackgroundLoop(
            "Importing", trigger: trigger, backoff: Backoff(first: ImportWorker.pauseAfterFailure), logger: logger
        ) {
            try await step()
        }
    }

    /// Works on the oldest import on which no other server works.
    /// - Returns: the time to wait until the next step.
    private func step() async throws -> Duration? {
        try await removeExpired()
        // An account has at most one unfinished import. Most unfinished imports wait for their clients, and are skipped below.
        let all = try await backend.store.read {
            try $0.unfinishedImports(before: Timestamp(clamping: .max), limit: .max)
        }
        var pause = ImportWorker.pause
        for next in all where next.state == .reading || next.state == .writing {
            let lease = Lease(
                "import \(next.scope.rawValue)", length: ImportWorker.leaseLength, renewal: ImportWorker.leaseRenewal)
            if try await work(on: next, lease) { return .zero }
            pause = ImportWorker.pauseWhileHeld
        }
        return pause
    }

    /// Removes imports that were not finished in time.
    private func removeExpired() async throws {
        let end = backend.now().adding(-limits.age)
        let old = try await backend.store.read { try $0.unfinishedImports(before: end, limit: ImportWorker.batch) }
        for each in old {
            try await backend.store.write { _ = try $0.deleteImport(each.uniqueID, in: each.scope) }
            try await stage.remove(each.uniqueID)
        }
    }

    /// Works on an import while the lease can be renewed.
    /// - Returns: false if another server works on it.
    private func work(on next: UnfinishedImport, _ lease: Lease) async throws -> Bool {
        var lease = lease
        guard try await lease.hold(in: backend.store, at: backend.now()) else { return false }
        let held = lease
        defer {
            // A new task releases the lease, because this task may have been cancelled by a shutdown of the server.
            let store = backend.store
            Task { try? await held.end(in: store) }
        }
        try await withTaskExecutorPreference(executor) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    var lease = held
                    while true {
                        try await Task.sleep(for: ImportWorker.renewalPause)
                        guard try await lease.hold(in: backend.store, at: backend.now()) else {
                            throw CancellationError()
                        }
                    }
                }
                group.addTask {
                    guard let record = try await backend.store.read({ try $0.importRecord(of: next.scope) }),
                        record.uniqueID == next.uniqueID, record.state == next.state
                    else { return }
                    try await ImportWork(worker: self, scope: next.scope, record: record).run()
                }
                try await group.next()
                group.cancelAll()
            }
        }
        return true
    }
}
