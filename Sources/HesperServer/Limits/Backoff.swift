/// Computes the time to wait after consecutive failures. The time doubles with each failure, up to a maximum.
public struct Backoff: Sendable {
    public let first: Duration
    public let longest: Duration

    /// - Parameter longest: the maximum time to wait. If it is nil, every wait is as long as the first.
    public init(first: Duration, longest: Duration? = nil) {
        self.first = first
        self.longest = longest ?? first
    }

    /// The time to wait before the next attempt.
    /// - Parameter failures: the number of consecutive failures, at least 1.
    public func delay(after failures: Int) -> Duration {
        min(first * (1 << min(max(failures - 1, 0), 20)), longest)
    }
}
