import NIOConcurrencyHelpers

/// Counts wrong tries by who tries what, or letters by whom they go to: the first few are free, after that each waits twice as
/// long as the one before. A right one ends it. Bounded memory.
final class GrowingWaits: Sendable {
    /// Remembered at most. Beyond, those with the fewest tries are forgotten first: they lose least by starting anew.
    static let capacity = 20_000

    private struct Count {
        var tries: Int
        /// Before then there is no other.
        var next: ContinuousClock.Instant
    }

    private let first: Int
    private let longest: Int
    private let forget: Int
    private let counts = NIOLockedValueBox<[String: Count]>([:])

    convenience init(_ limits: SignInLimits) {
        self.init(
            first: limits.firstWaitSeconds, longest: limits.longestWaitSeconds, forget: limits.forgetSeconds)
    }

    /// - Parameters:
    ///   - first: the first wait, in seconds; each next one is twice as long, up to `longest`.
    ///   - forget: after how many seconds without a try the waits begin anew.
    init(first: Int, longest: Int, forget: Int) {
        self.first = first
        self.longest = longest
        self.forget = forget
    }

    /// How many are remembered.
    var count: Int { counts.withLockedValue(\.count) }

    /// Takes one try, which counts as a wrong one until it is forgiven: of many at once, no more go through.
    /// - Parameter free: how many there are before the first wait.
    /// - Returns: nil, or in how many seconds there is one.
    func take(_ key: String, free: Int, at now: ContinuousClock.Instant = .now) -> Int? {
        counts.withLockedValue { counts in
            var count = counts[key] ?? Count(tries: 0, next: now)
            // Who stayed away for long begins anew.
            if now - count.next >= .seconds(forget) { count.tries = 0 }
            guard now >= count.next else { return Int(((count.next - now) / .seconds(1)).rounded(.up)) }
            if counts[key] == nil, counts.count >= GrowingWaits.capacity { GrowingWaits.forget(&counts) }
            count.tries += 1
            count.next = now + .seconds(wait(after: count.tries, free: free))
            counts[key] = count
            return nil
        }
    }

    /// Takes a try back that nobody looked at; the next one need not wait for it.
    func giveBack(_ key: String, at now: ContinuousClock.Instant = .now) {
        counts.withLockedValue { counts in
            guard var count = counts[key] else { return }
            count.tries -= 1
            count.next = min(count.next, now)
            counts[key] = count.tries > 0 ? count : nil
        }
    }

    /// It was right: all that was wrong before is forgotten.
    func forgive(_ key: String) { counts.withLockedValue { $0[key] = nil } }

    private func wait(after tries: Int, free: Int) -> Int {
        guard tries >= free else { return 0 }
        return min(first << min(tries - free, 20), longest)
    }

    private static func forget(_ counts: inout [String: Count]) {
        let order = counts.sorted { ($0.value.tries, $0.value.next) < ($1.value.tries, $1.value.next) }
        for (key, _) in order.prefix(capacity / 2) { counts[key] = nil }
    }
}
