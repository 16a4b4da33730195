import NIOConcurrencyHelpers

/// Limits the rate of an event, with a token bucket per key. The number of keys is limited.
final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    /// The maximum number of keys. When it is reached, half of the keys are removed: those whose buckets have the most tokens.
    static var capacity: Int { 20_000 }

    private struct Bucket {
        var tokens: Double
        var date: ContinuousClock.Instant
    }

    let rate: Rate
    private let buckets = NIOLockedValueBox<[Key: Bucket]>([:])

    init(_ rate: Rate) { self.rate = rate }

    /// The number of keys that have a bucket.
    var count: Int { buckets.withLockedValue(\.count) }

    /// Takes one token from the bucket of a key.
    /// - Returns: nil if there was a token; otherwise the time until there will be one, in seconds.
    func take(_ key: Key, at now: ContinuousClock.Instant = .now) -> Int? {
        buckets.withLockedValue { buckets in
            let tokens = buckets[key].map { refilled($0, at: now) } ?? Double(rate.burst)
            guard tokens >= 1 else { return Int(((1 - tokens) * 60 / rate.perMinute).rounded(.up)) }
            if buckets[key] == nil, buckets.count >= RateLimiter.capacity { evict(&buckets, at: now) }
            buckets[key] = Bucket(tokens: tokens - 1, date: now)
            return nil
        }
    }

    /// The number of tokens left in the bucket of a key, and the time until the bucket is full again, in seconds.
    func left(_ key: Key, at now: ContinuousClock.Instant = .now) -> (tokens: Int, fullAfter: Int) {
        let tokens = buckets.withLockedValue { $0[key].map { refilled($0, at: now) } } ?? Double(rate.burst)
        let missing = Double(rate.burst) - tokens
        return (Int(tokens), Int((missing * 60 / rate.perMinute).rounded(.up)))
    }

    /// Puts a token back into the bucket of a key, to undo ``take(_:at:)``.
    func giveBack(_ key: Key) {
        buckets.withLockedValue { buckets in
            guard let bucket = buckets[key] else { return }
            buckets[key]?.tokens = min(bucket.tokens + 1, Double(rate.burst))
        }
    }

    private func refilled(_ bucket: Bucket, at now: ContinuousClock.Instant) -> Double {
        let minutes = (now - bucket.date) / .seconds(60)
        return min(bucket.tokens + minutes * rate.perMinute, Double(rate.burst))
    }

    private func evict(_ buckets: inout [Key: Bucket], at now: ContinuousClock.Instant) {
        let left = buckets.map { (key: $0.key, tokens: refilled($0.value, at: now)) }.sorted { $0.tokens > $1.tokens }
        for (key, _) in left.prefix(RateLimiter.capacity / 2) { buckets[key] = nil }
    }
}
