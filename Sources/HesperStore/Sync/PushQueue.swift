import HesperModel
import NIOConcurrencyHelpers

/// Commits jobs in groups: jobs that arrive during a commit share the next commit, so that a single fsync serves many jobs
/// (storage.md, A transaction). The queue does not wait for further jobs: an idle server commits immediately.
///
/// The maximum number of concurrent commits is the number of writers of the store. A scope is never part of two concurrent
/// commits, because its jobs would wait for each other in the database.
///
/// An account cannot delay the pushes of other accounts for long. Scopes are served in round-robin order. A commit contains either
/// several jobs with at most ``groupBytes`` together or a single larger job. After the commit of a large job, only small jobs are
/// committed for some time. This time equals the duration of the large commit.
public final class PushQueue: Sendable {
    private let store: any Store
    private let committed: @Sendable ([ScopeHead]) -> Void
    private let slow: SlowScopes
    private let state: NIOLockedValueBox<State>
    public let meter = CommitMeter()

    /// The maximum number of jobs in a commit.
    static let groupLimit = 512
    /// The maximum number of bytes in a commit with several jobs. A job with more bytes is large and has a commit of its own.
    static let groupBytes = 1 << 20
    /// The minimum size of a large job. Background work states this size for each of its jobs, even if the job is smaller, so that
    /// the jobs of devices come first.
    public static let largeBytes = groupBytes + 1

    /// A write to one scope, and the continuation of the task that submitted it.
    private struct Job: Sendable {
        let scope: ScopeID
        let objects: [UniqueID]
        let bytes: Int
        let run: @Sendable (any Transaction) throws -> any Sendable
        let done: CheckedContinuation<any Sendable, any Error>
    }

    /// Jobs that share a commit: one large job, or several small ones.
    private struct Group: Sendable {
        let jobs: [Job]
        let isLarge: Bool
        let start = ContinuousClock.now
    }

    /// - Parameters:
    ///   - writers: the maximum number of concurrent commits. Nil means the number of writers of the store.
    ///   - committed: called after each commit with the new heads of the scopes that the commit changed.
    public init(
        store: any Store, writers: Int? = nil, committed: @escaping @Sendable ([ScopeHead]) -> Void = { _ in }
    ) {
        self.store = store
        self.committed = committed
        slow = SlowScopes()
        state = NIOLockedValueBox(State(writers: writers ?? store.writers, slow: slow))
    }

    /// The number of submitted jobs, for tests.
    package var submissions: Int { state.withLockedValue(\.submissions) }

    /// Runs `body` in a transaction, which may contain other jobs too, and returns when the transaction is durable. If `body`
    /// throws, only its own changes are rolled back.
    /// - Parameters:
    ///   - objects: the objects that `body` will read, as far as they are known.
    ///   - bytes: the approximate number of bytes that `body` will write.
    ///   - body: may run twice, because the transaction is repeated if another job in it throws.
    func submit<T: Sendable>(
        to scope: ScopeID, touching objects: [UniqueID] = [], bytes: Int = 0,
        _ body: @escaping @Sendable (any Transaction) throws -> T
    ) async throws -> T {
        let value = try await withCheckedThrowingContinuation { done in
            let job = Job(scope: scope, objects: objects, bytes: bytes, run: slow.measuring(scope, body), done: done)
            state.withLockedValue { state in
                state.submissions += 1
                state.waiting.append(job)
            }
            beginCommits()
        }
        guard let value = value as? T else { throw Problem(.internalError, "A commit returned another job's value.") }
        return value
    }

    /// Begins commits until no writer is free or no job is eligible.
    private func beginCommits() {
        while let group = state.withLockedValue({ $0.nextGroup() }) {
            // If the store has a dedicated thread for writing, the commit runs on that thread. This task then resumes the waiting
            // tasks and begins the next commit on the same thread, which avoids a switch between threads.
            Task(executorPreference: store.writerExecutor) { await self.run(group) }
        }
    }

    private func run(_ group: Group) async {
        await commit(group.jobs)
        if let next = state.withLockedValue({ $0.end(group) }) { beginCommits(at: next) }
        beginCommits()
    }

    /// Begins commits at a later time, when large jobs may be committed again.
    private func beginCommits(at time: ContinuousClock.Instant) {
        Task {
            while ContinuousClock.now < time { try? await Task.sleep(until: time, clock: .continuous) }
            self.beginCommits()
        }
    }

    /// The waiting jobs and the running commits.
    private struct State {
        let writers: Int
        let slow: SlowScopes
        var submissions = 0
        var waiting: [Job] = []
        /// The scopes whose jobs are being committed.
        private var busy: Set<ScopeID> = []
        /// The number of running commits.
        private var commits = 0
        /// The number of running commits that contain a large job.
        private var largeCommits = 0
        /// The time before which no large job may be committed.
        private var nextLarge = ContinuousClock.now

        init(writers: Int, slow: SlowScopes) {
            self.writers = writers
            self.slow = slow
        }

        /// Whether a job has a commit of its own. Even a small push can take much time if it changes large objects, so jobs of slow
        /// scopes are treated as large.
        private func isLarge(_ job: Job) -> Bool { job.bytes > PushQueue.groupBytes || slow.contains(job.scope) }

        /// Begins a commit: removes the next group from ``waiting``. Jobs of scopes with a running commit are not eligible.
        /// - Returns: the group; nil if no writer is free or no job is eligible.
        mutating func nextGroup() -> Group? {
            guard commits < writers else { return nil }
            let free = waiting.indices.filter { !busy.contains(waiting[$0].scope) }
            let small = free.filter { !isLarge(waiting[$0]) }
            let group: Group
            // If there are several writers, large jobs use at most half of the writers.
            if ContinuousClock.now >= nextLarge, largeCommits < max(1, writers / 2),
                let large = free.first(where: { isLarge(waiting[$0]) }), small.isEmpty || large == free.first
            {
                group = Group(jobs: [waiting.remove(at: large)], isLarge: true)
                largeCommits += 1
            } else {
                let taken = fitting(small)
                guard !taken.isEmpty else { return nil }
                group = Group(jobs: taken.map { waiting[$0] }, isLarge: false)
                let indices = Set(taken)
                waiting = waiting.indices.filter { !indices.contains($0) }.map { waiting[$0] }
            }
            commits += 1
            busy.formUnion(group.jobs.map(\.scope))
            return group
        }

        /// Ends the commit of a group. If the group has a large job, the next large job must wait for a time that equals the
        /// duration of this commit. During this time, the writer is available for small jobs.
        /// - Returns: the time at which large jobs may be committed again; nil if no job of the group is large.
        mutating func end(_ group: Group) -> ContinuousClock.Instant? {
            commits -= 1
            busy.subtract(group.jobs.map(\.scope))
            if group.isLarge { largeCommits -= 1 }
            // `isLarge` is evaluated again, because the commit may have shown that a scope is slow.
            guard group.jobs.contains(where: isLarge) else { return nil }
            let now = ContinuousClock.now
            nextLarge = now + (now - group.start)
            return nextLarge
        }

        /// Selects the jobs for one commit: the first job of each scope, then the second job of each scope, and so on. The scopes
        /// are divided evenly among the writers that are free now. Busy writers are not counted, although they could take some jobs
        /// later: a few large commits cost less than many small commits.
        /// - Returns: the indices of the jobs. They are ordered by scope, because scopes must be locked in this order, and then by
        ///   arrival.
        private func fitting(_ jobs: [Int]) -> [Int] {
            var jobCounts: [ScopeID: Int] = [:]
            var ordered: [(round: Int, index: Int)] = []
            for index in jobs {
                ordered.append((jobCounts[waiting[index].scope, default: 0], index))
                jobCounts[waiting[index].scope, default: 0] += 1
            }
            ordered.sort { $0 < $1 }
            let idle = writers - commits
            let share = (jobCounts.count + idle - 1) / idle
            var (taken, scopes, bytes): ([Int], Set<ScopeID>, Int) = ([], [], 0)
            for (_, index) in ordered where taken.count < PushQueue.groupLimit {
                let job = waiting[index]
                guard scopes.count < share || scopes.contains(job.scope) else { continue }
                guard taken.isEmpty || bytes + job.bytes <= PushQueue.groupBytes else { break }
                taken.append(index)
                scopes.insert(job.scope)
                bytes += job.bytes
            }
            return taken.sorted { (waiting[$0].scope, $0) < (waiting[$1].scope, $1) }
        }
    }

    /// Commits a group without savepoints, because jobs rarely throw and a savepoint costs a copy of every changed page. If a job
    /// throws, the transaction is rolled back and repeated with a savepoint for each job.
    private func commit(_ group: [Job]) async {
        let start = ContinuousClock.now
        do {
            let values = try await store.write { transaction in
                try transaction.prefetch(group.map { ($0.scope, $0.objects) })
                return try group.map { try $0.run(transaction) }
            }
            meter.committed(group.count, in: .now - start)
            for (job, value) in zip(group, values) { job.done.resume(returning: value) }
            announce(values)
        } catch let error where group.count == 1 || (error as? StoreError)?.isUnavailable == true {
            if error is StoreError { meter.failed() }
            for job in group { job.done.resume(throwing: error) }
        } catch {
            await commitWithSavepoints(group)
        }
    }

    private func commitWithSavepoints(_ group: [Job]) async {
        let start = ContinuousClock.now
        do {
            let results = try await store.write { transaction in
                try group.map { job in
                    do {
                        return Result<any Sendable, any Error>.success(
                            try transaction.savepoint { try job.run(transaction) })
                    } catch let error as StoreError where error.isUnavailable {
                        // The database itself failed, so the whole transaction has been rolled back.
                        throw error
                    } catch {
                        return .failure(error)
                    }
                }
            }
            meter.committed(group.count, in: .now - start)
            for (job, result) in zip(group, results) { job.done.resume(with: result) }
            announce(results.compactMap { try? $0.get() })
        } catch {
            meter.failed()
            for job in group { job.done.resume(throwing: error) }
        }
    }

    private func announce(_ values: [any Sendable]) {
        var heads: [ScopeID: ScopeHead] = [:]
        for case let result as Scope.PushResult in values where result.after.sequence > result.before.sequence {
            // The results of each scope are in ascending order of sequence numbers, so the dictionary keeps the greatest one.
            heads[result.after.scope] = result.after
        }
        if !heads.isEmpty { committed(Array(heads.values)) }
    }
}
