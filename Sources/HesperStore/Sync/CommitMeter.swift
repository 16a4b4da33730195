import NIOConcurrencyHelpers

/// How commits went since the start, for operators.
public final class CommitMeter: Sendable {
    public struct Reading: Sendable, Equatable {
        /// From the beginning of the transaction until it is durable.
        public var seconds = Histogram(bounds: Histogram.seconds)
        /// Writes that shared a commit.
        public var sizes = Histogram(bounds: Histogram.sizes)
        /// Commits of which nothing was kept.
        public var failures = 0
    }

    private let state = NIOLockedValueBox(Reading())

    public var reading: Reading { state.withLockedValue { $0 } }

    func committed(_ count: Int, in duration: Duration) {
        state.withLockedValue { reading in
            reading.seconds.record(duration.inSeconds)
            reading.sizes.record(Double(count))
        }
    }

    func failed() { state.withLockedValue { $0.failures += 1 } }
}
