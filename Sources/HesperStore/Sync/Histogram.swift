/// A histogram: the number of recorded values in each bucket, and the sum of all values.
///
///     var seconds = Histogram(bounds: Histogram.seconds)
///     seconds.record(0.012)
public struct Histogram: Sendable, Equatable {
    /// The inclusive upper bounds of the buckets, in ascending order.
    public let bounds: [Double]
    /// For each bound, the number of values that are at most this bound and greater than the previous bound. The last element
    /// counts the values above all bounds.
    public private(set) var counts: [Int]
    public private(set) var sum = 0.0

    /// Bounds for durations in seconds. They range from the duration of a poll without changes to the duration of an upload over
    /// a slow connection.
    public static let seconds: [Double] = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
    ]
    /// Bounds for the number of jobs per commit.
    public static let sizes: [Double] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]

    public init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    public var count: Int { counts.reduce(0, +) }

    public mutating func record(_ value: Double) {
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
    }
}

extension Duration {
    /// The duration in seconds, for a ``Histogram``.
    public var inSeconds: Double { self / .seconds(1) }
}
