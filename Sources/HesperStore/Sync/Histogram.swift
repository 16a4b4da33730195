/// How often values fell between bounds, and their sum: what tells of a distribution without keeping its values.
///
///     var seconds = Histogram(bounds: Histogram.seconds)
///     seconds.record(0.012)
public struct Histogram: Sendable, Equatable {
    /// Upper bounds, in rising order; each counts for its own.
    public let bounds: [Double]
    /// How many values fell below each bound and not below the one before; the last is of those above all of them.
    public private(set) var counts: [Int]
    public private(set) var sum = 0.0

    /// From a poll that finds nothing new to an upload over a slow line.
    public static let seconds: [Double] = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
    ]
    /// Of things done together.
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
    /// In seconds, for a ``Histogram``.
    public var inSeconds: Double { self / .seconds(1) }
}
