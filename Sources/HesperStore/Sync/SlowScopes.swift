import Foundation
import HesperModel
import NIOConcurrencyHelpers

/// Scopes of which a job has taken much processor time in a transaction: whose next ones are likely to take as much.
final class SlowScopes: Sendable {
    /// The processor time that makes a job slow. Waiting, for a disk or a lock, does not count.
    static let slowJob = Duration.milliseconds(50)
    /// How long a scope counts as slow.
    static let memory = Duration.seconds(60)

    private let ends = NIOLockedValueBox<[ScopeID: ContinuousClock.Instant]>([:])

    func contains(_ scope: ScopeID) -> Bool {
        ends.withLockedValue { ends in ends[scope].map { $0 > .now } ?? false }
    }

    /// The same job, measured.
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

    /// Of the current thread.
    private static func processorTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
