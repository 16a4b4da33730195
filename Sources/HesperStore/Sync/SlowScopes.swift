import Foundation
import HesperModel
import NIOConcurrencyHelpers

/// Remembers the scopes that recently had a job that took much processor time. Their next jobs are likely to be slow too.
final class SlowScopes: Sendable {
    /// A job that takes at least this processor time is slow. Time spent waiting for a disk or a lock is not included.
    static let slowJob = Duration.milliseconds(50)
    /// The time for which a scope is considered slow after a slow job.
    static let memory = Duration.seconds(60)

    private let ends = NIOLockedValueBox<[ScopeID: ContinuousClock.Instant]>([:])

    func contains(_ scope: ScopeID) -> Bool {
        ends.withLockedValue { ends in ends[scope].map { $0 > .now } ?? false }
    }

    /// Wraps a job so that its processor time is measured when it runs.
    func measuring<T>(
        _ scope: ScopeID, _ job: @escaping @Sendable (any Transaction) throws -> T
    ) -> @Sendable (any Transaction) throws -> T {
        { transaction in
            let start = SlowScopes.processorTime()
            defer { if SlowScopes.processorTime() - start >= SlowScopes.slowJob { self.add(scope) } }
            return try job(transaction)
        }
    }

    private func add(_ scope: ScopeID) {
        ends.withLockedValue { ends in
            ends = ends.filter { $0.value > .now }
            ends[scope] = .now + SlowScopes.memory
        }
    }

    /// The processor time that the current thread has used so far.
    private static func processorTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
