import NIOConcurrencyHelpers

/// Statistics of the commits since the server started.
public final class CommitMeter: Sendable {
    public struct Reading: Sendable, Equatable {
        /// The distribution of the durations of commits, in seconds. A commit lasts from the beginning of its transaction until
        /// the transaction is durable.
        public var seconds = Histogram(bounds: Histogram.seconds)
        /// The distribution of the number of jobs per commit.
        public var sizes = Histogram(bounds: Histogram.sizes)
        /// The number of commits that failed.
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
