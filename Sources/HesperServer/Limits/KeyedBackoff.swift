import NIOConcurrencyHelpers

/// Limits the rate of failed attempts, or of e-mails, per key. The first few attempts are permitted without a wait. After each
/// further attempt, the next one is permitted only after a wait, which is twice as long as the previous wait. A successful attempt
/// resets the key. The number of keys is limited.
final class KeyedBackoff: Sendable {
    /// The maximum number of keys. When it is reached, half of the keys are removed: those with the fewest attempts.
    static let capacity = 20_000

    private struct Count {
        var attempts: Int
        /// The earliest time at which another attempt is permitted.
        var next: ContinuousClock.Instant
    }

    private let backoff: Backoff
    private let lifetime: Duration
    private let counts = NIOLockedValueBox<[String: Count]>([:])

    /// - Parameter lifetime: if a key has no attempt for this time, its count starts again at 0.
    init(_ backoff: Backoff, lifetime: Duration) {
        self.backoff = backoff
        self.lifetime = lifetime
    }

    convenience init(_ limits: SignInLimits) {
        self.init(
            Backoff(first: .seconds(limits.firstWaitSeconds), longest: .seconds(limits.longestWaitSeconds)),
            lifetime: .seconds(limits.forgetSeconds))
    }

    /// The number of keys for which attempts are counted.
    var count: Int { counts.withLockedValue(\.count) }

    /// Takes one attempt. The attempt counts as failed until ``reset(_:)`` is called, so concurrent attempts cannot exceed the
    /// limit.
    /// - Parameter free: the number of attempts before the first wait.
    /// - Returns: nil if the attempt is permitted; otherwise the time until the next one is permitted, in seconds.
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

    /// Undoes ``take(_:free:at:)`` for an attempt that neither failed nor succeeded. The attempt then does not delay the next one.
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
