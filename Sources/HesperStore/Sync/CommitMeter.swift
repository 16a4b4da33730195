import NIOConcurrencyHelpers

/// Statistics of commits since the start of the server.
public final class CommitMeter: Sendable {
    public struct Reading: Sendable, Equatable {
        /// The time from the beginning of a transaction until it is durable.
        public var seconds = Histogram(bounds: Histogram.seconds)
        /// The number of jobs per commit.
        public var sizes = Histogram(bounds: Histogram.sizes)
        /// The number of failed commits.
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
