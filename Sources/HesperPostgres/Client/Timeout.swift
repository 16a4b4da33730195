/// The time limit of one wait. It is extended after each cancel request, to wait for the end of the cancelled statement.
struct Timeout {
    private(set) var end: ContinuousClock.Instant
    /// The number of times that the limit was reached and then extended.
    private(set) var extensions = 0

    init(_ duration: Duration) { end = .now + duration }

    /// The remaining time in milliseconds, for `poll()`. It is rounded up, so that `poll()` is not called with 0 again and again
    /// just before the end.
    var milliseconds: Int32 { Int32(clamping: Int64(((end - .now) / .milliseconds(1)).rounded(.up))) }

    /// Whether the limit was reached at least once.
    var hasExpired: Bool { extensions > 0 }

    mutating func extend(by duration: Duration) {
        extensions += 1
        end = .now + duration
    }
}
