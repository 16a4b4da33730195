/// The time to wait after failures: doubled with each of them, up to a maximum.
public struct Backoff: Sendable {
    public let first: Duration
    public let longest: Duration

    /// - Parameter longest: without it, every wait is as long as the first.
    public init(first: Duration, longest: Duration? = nil) {
        self.first = first
        self.longest = longest ?? first
    }

    /// - Parameter failures: the number of failures in a row, from 1.
    public func delay(after failures: Int) -> Duration {
        min(first * (1 << min(max(failures - 1, 0), 20)), longest)
    }
}
