import Foundation
import HesperModel
import NIOConcurrencyHelpers

/// Tracks scopes with a recent job that took much processor time, because their next jobs are likely to be slow too.
final class SlowScopes: Sendable {
    /// The processor time that makes a job slow. Time spent waiting for a disk or a lock is not included.
    static let slowJob = Duration.milliseconds(50)
    /// The time for which a scope is considered slow.
    static let memory = Duration.seconds(60)

    private let ends = NIOLockedValueBox<[ScopeID: ContinuousClock.Instant]>([:])

    func contains(_ scope: ScopeID) -> Bool {
        ends.withLockedValue { ends in ends[scope].map { $0 > .now } ?? false }
    }

    /// Wraps a job to measure its processor time.
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

    /// The processor time of the current thread.
    private static func processorTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
