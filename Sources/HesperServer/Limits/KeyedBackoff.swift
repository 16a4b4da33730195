import NIOConcurrencyHelpers

/// Counts failed attempts, or e-mails, by key. The first few are free; after that, each wait is twice as long as the one before.
/// A successful attempt resets the key. Memory is bounded.
final class KeyedBackoff: Sendable {
    /// The maximum number of keys. When it is reached, the half with the fewest attempts is removed.
    static let capacity = 20_000

    private struct Count {
        var attempts: Int
        /// The time of the next attempt at the earliest.
        var next: ContinuousClock.Instant
    }

    private let backoff: Backoff
    private let lifetime: Duration
    private let counts = NIOLockedValueBox<[String: Count]>([:])

    /// - Parameter lifetime: the time without an attempt after which a key starts anew.
    init(_ backoff: Backoff, lifetime: Duration) {
        self.backoff = backoff
        self.lifetime = lifetime
    }

    convenience init(_ limits: SignInLimits) {
        self.init(
            Backoff(first: .seconds(limits.firstWaitSeconds), longest: .seconds(limits.longestWaitSeconds)),
            lifetime: .seconds(limits.forgetSeconds))
    }

    /// The number of keys.
    var count: Int { counts.withLockedValue(\.count) }

    /// Takes one attempt. It counts as failed until ``reset(_:)``, so concurrent attempts cannot exceed the limit.
    /// - Parameter free: the number of attempts before the first wait.
    /// - Returns: nil, or the time until the next attempt, in seconds.
    func take(_ key: String, free: Int, at now: ContinuousClock.Instant = .now) -> Int? {
        counts.withLockedValue { counts in
            var count = counts[key] ?? Count(attempts: 0, next: now)
            if now - count.next >= lifetime { count.attempts = 0 }
            guard now >= count.next else { return Int(((count.next - now) / .seconds(1)).rounded(.up)) }
            if counts[key] == nil, counts.count >= KeyedBackoff.capacity { KeyedBackoff.evict(&counts) }
            count.attempts += 1
            count.next = now
            if count.attempts >= free { count.next += backoff.delay(after: count.attempts - free + 1) }
            counts[key] = count
            return nil
        }
    }

    /// Gives back an attempt whose outcome was not determined. The next one need not wait for it.
    func giveBack(_ key: String, at now: ContinuousClock.Instant = .now) {
        counts.withLockedValue { counts in
            guard var count = counts[key] else { return }
            count.attempts -= 1
            count.next = min(count.next, now)
            counts[key] = count.attempts > 0 ? count : nil
        }
    }

    /// Removes all failed attempts of a key.
    func reset(_ key: String) { counts.withLockedValue { $0[key] = nil } }

    private static func evict(_ counts: inout [String: Count]) {
        let order = counts.sorted { ($0.value.attempts, $0.value.next) < ($1.value.attempts, $1.value.next) }
        for (key, _) in order.prefix(capacity / 2) { counts[key] = nil }
    }
}
